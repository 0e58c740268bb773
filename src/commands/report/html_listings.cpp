#include "commands/report/html_listings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "commands/annotate/module_code.h"
#include "commands/annotate/source.h"
#include "commands/report/hot_code.h"
#include "profiler/text.h"

namespace sp::report {
namespace {

using profiler::ReportInstruction;
using profiler::ReportListing;

constexpr std::size_t kMostInstructions = 20'000;  // of one function
constexpr std::uint32_t kLinesAround = 3;          // that are shown beside those with code

class ListingBuilder {
 public:
  ListingBuilder(const HotFunction& hot, annotate::ModuleCode& code, annotate::SourceText& sources)
      : hot_(hot), code_(code), sources_(sources) {}

  ReportListing build() {
    const auto rows = code_.list(hot_.function, code_.code_of(hot_.function));
    const std::size_t shown = std::min(rows.size(), kMostInstructions);
    for (std::size_t i = 0; i < shown; ++i) {
      add(rows[i]);
    }
    add_sources();
    listing_.about = about(rows.size());
    return std::move(listing_);
  }

 private:
  void add(const annotate::ListedInstruction& row) {
    ReportInstruction& shown = listing_.instructions.emplace_back();
    shown.address = row.address;
    shown.text = code_.text(row);
    shown.hits = row.hits;
    shown.executed = row.executed;
    const auto begin = hot_.samples.lower_bound(row.address);
    for (auto sample = begin;
         sample != hot_.samples.end() && sample->first < row.address + row.length; ++sample) {
      shown.samples += sample->second;
    }
    if (row.hits) {
      shown.kind = other_kind(row.address);
    }
    for (const annotate::Block& inside : row.entered_inside) {
      shown.kind += fmt::format("{}entered {} times at {:x}, within the instruction",
                                shown.kind.empty() ? "" : "; ", profiler::grouped(inside.hits),
                                inside.offset);
    }
    if (const auto source = code_.source_of(row.address); row.is_code && source) {
      const auto [file, is_new] =
          files_.try_emplace(source->file, static_cast<std::uint32_t>(listing_.files.size()));
      if (is_new) {
        listing_.files.push_back(source->file);
      }
      shown.file = file->second;
      shown.line = source->line;
      used_[file->second].insert(source->line);
    }
  }

  /// Of the block's hits, if the function's is "mixed".
  [[nodiscard]] std::string other_kind(std::uint64_t offset) const {
    const auto& blocks = hot_.function.blocks;
    const auto block = std::find_if(blocks.begin(), blocks.end(),
                                    [&](const auto& one) { return one.offset == offset; });
    return block == blocks.end() || block->kind == hot_.function.kind || block->kind == "exact"
               ? std::string()
               : block->kind;
  }

  void add_sources() {
    for (const auto& [file, used] : used_) {
      ReportListing::Source source{file, {}};
      for (const std::uint32_t line : used) {
        const std::uint32_t first = line > kLinesAround ? line - kLinesAround : 1;
        for (std::uint32_t near = first; line > 0 && near <= line + kLinesAround; ++near) {
          if (const std::string* text = sources_.text_of({listing_.files[file], near})) {
            source.lines.emplace(near, *text);
          }
        }
      }
      if (!source.lines.empty()) {
        listing_.sources.push_back(std::move(source));
      }
    }
  }

  [[nodiscard]] std::string about(std::size_t instructions) const {
    std::string text = fmt::format("{} samples in its code, inlined functions included; ",
                                   profiler::grouped(hot_.sampled));
    text +=
        hot_.function.kind.empty() ? "its blocks were not counted" : "hits: " + hot_.function.kind;
    if (instructions > kMostInstructions) {
      text += fmt::format("; the first {} of {} instructions", profiler::grouped(kMostInstructions),
                          profiler::grouped(instructions));
    }
    if (!code_.note().empty()) {
      text += "; " + code_.note();
    }
    return text;
  }

  const HotFunction& hot_;
  annotate::ModuleCode& code_;
  annotate::SourceText& sources_;
  ReportListing listing_;
  std::map<std::string, std::uint32_t> files_;
  std::map<std::uint32_t, std::set<std::uint32_t>> used_;  // lines by file
};

/// Opens each module once.
class ModuleCodes {
 public:
  ModuleCodes(const profiler::RecordedRun& run, const std::vector<std::string>& debug_dirs)
      : debug_dirs_(debug_dirs) {
    for (const profiler::RecordedModule& module : run.modules) {
      modules_.push_back({module.path, module.kind, module.build_id});
    }
  }

  /// Null if its file cannot be read; `notes` says so once.
  annotate::ModuleCode* of(const annotate::CountedFunction& function,
                           std::vector<std::string>& notes) {
    const auto [place, is_new] = opened_.try_emplace(function.module);
    if (is_new) {
      auto opened = annotate::ModuleCode::open(modules_, function, debug_dirs_);
      if (opened) {
        place->second.emplace(std::move(*opened));
      } else {
        notes.push_back(opened.error().message());
      }
    }
    return place->second ? &*place->second : nullptr;
  }

 private:
  const std::vector<std::string>& debug_dirs_;
  std::vector<annotate::ModuleEntry> modules_;
  std::map<std::string, std::optional<annotate::ModuleCode>> opened_;
};

}  // namespace

Listings read_listings(HtmlInput& input, const std::vector<std::string>& debug_dirs) {
  const std::vector<HotFunction> hottest =
      hot_functions(input.recorded == nullptr ? nullptr : &input.recorded->recording(),
                    input.code ? &*input.code : nullptr, kMostListings);
  std::map<std::pair<std::string_view, std::string_view>, std::uint32_t> numbers;
  const auto functions = input.stacks->functions();
  for (std::uint32_t i = 0; i < functions.size(); ++i) {
    numbers.try_emplace({functions[i].module, functions[i].name}, i);
  }
  ModuleCodes codes(input.run, debug_dirs);
  annotate::SourceText sources;
  Listings read;
  std::set<std::uint32_t> listed;
  for (const HotFunction& hot : hottest) {
    const auto number = numbers.find({hot.function.module, hot.function.name});
    if (number == numbers.end() || !listed.insert(number->second).second) {
      continue;
    }
    annotate::ModuleCode* const code = codes.of(hot.function, read.notes);
    if (code == nullptr) {
      continue;
    }
    ReportListing listing = ListingBuilder(hot, *code, sources).build();
    listing.function = number->second;
    read.listings.push_back(std::move(listing));
  }
  return read;
}

}  // namespace sp::report
