#include "commands/annotate/annotate.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "commands/annotate/finished_run.h"
#include "commands/annotate/listing.h"
#include "commands/annotate/module_code.h"
#include "commands/annotate/source.h"
#include "commands/run_files/pager.h"
#include "core/log.h"
#include "symbols/source_line.h"

namespace sp::annotate {
namespace {

constexpr int kFailure = 1;
constexpr int kAmbiguous = 2;
constexpr std::size_t kNamesOffered = 5;

/// Prints one function.
class Listing {
 public:
  Listing(const CountedFunction& function, ModuleCode& code) : function_(function), code_(code) {}

  std::string text() {
    const auto code = code_.code_of(function_);
    text_ =
        fmt::format("{}  {}  {:#x}..{:#x}  {}\n{:>15}  {:>8}\n", function_.name, function_.module,
                    function_.start, function_.start + code.size(),
                    is_mixed() ? "exact, except for the blocks marked otherwise" : function_.kind,
                    "hits", "offset");
    for (const ListedInstruction& row : code_.list(function_, code)) {
      add(row);
    }
    return std::move(text_);
  }

 private:
  void add(const ListedInstruction& row) {
    const auto source = code_.source_of(row.address);
    if (row.is_code && source && source != last_source_) {
      last_source_ = source;
      text_ += fmt::format("{:>27}{}\n", "", sources_.line(*source));
    }
    const std::string hits = row.hits       ? fmt::format("{}", *row.hits)
                             : row.executed ? std::string(".")
                                            : std::string("-");
    if (row.hits) {
      add_kind(row.address);
    }
    text_ += fmt::format("{:>15}  {:>8x}:  {}\n", hits, row.address, code_.text(row));
    for (const Block& inside : row.entered_inside) {
      text_ += fmt::format("{:>15}  {:>8x}:  (entered here, within the instruction above)\n",
                           inside.hits, inside.offset);
    }
  }

  [[nodiscard]] bool is_mixed() const {
    return std::any_of(function_.blocks.begin(), function_.blocks.end(),
                       [this](const Block& block) { return block.kind != function_.kind; });
  }

  /// A line above the block if the kind of its hits differs from the first line's. Samples are
  /// given in words, not in the column of hits.
  void add_kind(std::uint64_t offset) {
    const auto block = std::find_if(function_.blocks.begin(), function_.blocks.end(),
                                    [&](const Block& b) { return b.offset == offset; });
    const bool differs = is_mixed() && block->kind != "exact";
    if (!differs && block->samples == 0) {
      return;
    }
    std::string words = differs ? block->kind : std::string();
    if (block->samples > 0) {
      words += fmt::format("{}{} {} of the run fell into it", words.empty() ? "" : "; ",
                           block->samples, block->samples == 1 ? "sample" : "samples");
    }
    text_ += fmt::format("{:>27}({})\n", "", words);
  }

  const CountedFunction& function_;
  ModuleCode& code_;
  SourceText sources_;
  std::optional<symbols::SourceLine> last_source_;
  std::string text_;
};

int refuse_unknown(const CountedRun& run, const cli::AnnotateOptions& options) {
  std::string line =
      fmt::format("no counted function of {} is called '{}'", options.run, options.function);
  const auto similar = similar_names(run, options.function, kNamesOffered);
  for (std::size_t i = 0; i < similar.size(); ++i) {
    line += fmt::format("{}'{}'", i == 0 ? "; there is " : ", ", similar[i]);
  }
  core::print_error(line);
  return kFailure;
}

int refuse_ambiguous(const CountedRun& run, const cli::AnnotateOptions& options,
                     const std::vector<const CountedFunction*>& found) {
  core::print_error(fmt::format(
      "'{}' is the name of {} functions; choose one of them:", options.function, found.size()));
  for (const CountedFunction* function : found) {
    core::print_error("  " + unique_name(run, *function));
  }
  return kAmbiguous;
}

}  // namespace

int run(const cli::AnnotateOptions& options) {
  const auto counted = read_run(options.run);
  if (!counted) {
    core::print_error(counted.error().message());
    return kFailure;
  }
  const auto found = find_functions(*counted, options.function);
  if (found.empty()) {
    return refuse_unknown(*counted, options);
  }
  if (found.size() > 1) {
    return refuse_ambiguous(*counted, options, found);
  }
  auto code = ModuleCode::open(counted->modules, *found.front(), options.debug_dirs);
  if (!code) {
    core::print_error(code.error().message());
    return kFailure;
  }
  if (!code->note().empty()) {
    core::print_note(code->note());
  }
  const std::string text = Listing(*found.front(), *code).text();
  if (!run_files::show([&](std::ostream& out) { out << text; })) {
    core::print_error("writing to stdout failed");
    return kFailure;
  }
  return 0;
}

}  // namespace sp::annotate
