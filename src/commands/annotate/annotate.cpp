#include "commands/annotate/annotate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "commands/annotate/disassembler.h"
#include "commands/annotate/finished_run.h"
#include "commands/annotate/listing.h"
#include "commands/annotate/source.h"
#include "commands/run_files/pager.h"
#include "core/elf_image.h"
#include "core/log.h"
#include "core/module.h"
#include "symbols/symbolizer.h"

namespace sp::annotate {
namespace {

using core::fail;
using core::Result;

constexpr int kFailure = 1;
constexpr int kAmbiguous = 2;
constexpr std::size_t kNamesOffered = 5;
constexpr std::uint64_t kLongestFunction = 1U << 20U;  // bytes; the rest is not listed
constexpr core::ModuleId kModule{1};

/// The file with the function's code.
struct Code {
  core::Module module;
  std::string note;  // for the user; "" for none
};

Result<Code> open_code(const CountedRun& run, const CountedFunction& function) {
  const auto entry =
      std::find_if(run.modules.begin(), run.modules.end(),
                   [&](const ModuleEntry& module) { return module.path == function.module; });
  if (entry == run.modules.end() || entry->kind != "file") {
    return fail(fmt::format("the code of {} was in memory only ({}); there is no file to read",
                            function.name, function.module));
  }
  const auto image = core::MappedFile::open(entry->path).and_then(core::ElfImage::parse);
  if (!image) {
    return fail(
        fmt::format("the code of {} cannot be read: {}", function.name, image.error().message()));
  }
  Code code;
  code.module.id = kModule;
  code.module.kind = core::ModuleKind::file;
  code.module.path = entry->path;
  code.module.image = *image;
  code.module.build_id = (*image)->build_id();
  if (entry->build_id.empty()) {
    code.note = fmt::format("{} has no build-id: it may not be the file that was run", entry->path);
  } else if (entry->build_id != code.module.build_id) {
    code.note = fmt::format(
        "{} is not the file that was run (build-id {}, then {}): the counts may be next to the "
        "wrong instructions",
        entry->path, code.module.build_id.empty() ? "none" : code.module.build_id, entry->build_id);
  }
  return code;
}

/// Prints one function.
class Listing {
 public:
  Listing(const CountedFunction& function, const core::Module& module,
          const cli::AnnotateOptions& options)
      : function_(function),
        image_(*module.image),
        disassembler_(image_.machine()),
        symbolizer_({.debug_directories = options.debug_dirs,
                     .server = symbols::DebugServer::of_environment()}) {
    symbolizer_.add_module(module);
  }

  std::string text() {
    const std::uint64_t end = find_end();
    const auto code = bytes(function_.start, end);
    text_ =
        fmt::format("{}  {}  {:#x}..{:#x}  {}\n{:>15}  {:>8}\n", function_.name, function_.module,
                    function_.start, function_.start + code.size(),
                    is_mixed() ? "exact, except for the blocks marked otherwise" : function_.kind,
                    "hits", "offset");
    for (const ListedInstruction& row :
         list_instructions(code, function_.start, function_.blocks, disassembler_.decode(),
                           disassembler_.unit())) {
      add(row);
    }
    return std::move(text_);
  }

 private:
  [[nodiscard]] std::span<const std::byte> bytes(std::uint64_t begin, std::uint64_t end) const {
    const auto all = image_.bytes_at(begin);
    return all.first(std::min<std::size_t>(all.size(), end - begin));
  }

  /// The start of the next named function, or the end of the last counted block if that is later.
  [[nodiscard]] std::uint64_t find_end() {
    std::uint64_t counted_end = function_.start;
    for (const Block& block : function_.blocks) {
      counted_end = std::max(counted_end, block.offset + block.size);
    }
    counted_end = std::min(counted_end, function_.start + kLongestFunction);
    const auto own = symbolizer_.name({kModule, function_.start}, false).back();
    std::uint64_t end = function_.start;
    while (end - function_.start < kLongestFunction) {
      const auto& here = symbolizer_.name({kModule, end}, false).back();
      const auto code = image_.bytes_at(end);
      if (code.empty() ||
          (end >= counted_end && (here.start != own.start || here.function != own.function))) {
        break;
      }
      const auto instruction = disassembler_.decode()(code, core::Address{end});
      end += instruction ? instruction->length : disassembler_.unit();
    }
    return std::max(end, counted_end);
  }

  void add(const ListedInstruction& row) {
    const auto source = symbolizer_.name({kModule, row.address}, false).front().source;
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
    const auto code = bytes(row.address, row.address + row.length);
    text_ += fmt::format("{:>15}  {:>8x}:  {}{}\n", hits, row.address,
                         row.is_code ? disassembler_.text(code, row.address) : byte_text(code),
                         row.goes_to ? target(*row.goes_to) : std::string());
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

  [[nodiscard]] std::string target(std::uint64_t address) {
    const symbols::NamedFrame& to = symbolizer_.name({kModule, address}, false).back();
    if (!to.has_symbol) {
      return "";
    }
    return to.start == address ? fmt::format("  <{}>", to.function)
                               : fmt::format("  <{}+{:#x}>", to.function, address - to.start);
  }

  const CountedFunction& function_;
  const core::ElfImage& image_;
  Disassembler disassembler_;
  symbols::Symbolizer symbolizer_;
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
  const auto code = open_code(*counted, *found.front());
  if (!code) {
    core::print_error(code.error().message());
    return kFailure;
  }
  if (!code->note.empty()) {
    core::print_note(code->note);
  }
  const std::string text = Listing(*found.front(), code->module, options).text();
  if (!run_files::show([&](std::ostream& out) { out << text; })) {
    core::print_error("writing to stdout failed");
    return kFailure;
  }
  return 0;
}

}  // namespace sp::annotate
