#include "commands/convert/source_counts.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "symbols/debug_files.h"
#include "symbols/discriminator.h"
#include "symbols/dwarf_lines.h"
#include "symbols/symbol_table.h"

namespace sp::convert {
namespace {

using core::EdgeFlow;
using profiler::CountedPlace;
using profiler::CountedSource;
using profiler::RecordedCode;
using Block = RecordedCode::Block;
using Edge = RecordedCode::Edge;

/// LLVM keeps 16 bits of a line's distance from its function's, which may be negative (macros).
std::uint32_t line_in_function(std::uint32_t line, std::uint32_t declared) {
  return (line - declared) & 0xffffU;
}

class Counter {
 public:
  Counter(const CodeFile& file, const RecordedCode& counts, symbols::ElfSections debug)
      : counts_(counts),
        module_(file.module),
        lines_(std::move(debug), std::nullopt),
        symbols_({file.sections}) {
    for (const Edge& edge : counts.edges) {
      if (edge.from_module == module_ && edge.to_module == module_ && edge.flow != EdgeFlow::ret &&
          edge.flow != EdgeFlow::entry) {
        edges_.push_back(&edge);
      }
    }
    std::sort(edges_.begin(), edges_.end(),
              [](const Edge* a, const Edge* b) { return a->from < b->from; });
  }

  SourceSums run(const std::function<bool(const CountedSource&)>& visit) {
    // Blocks are by function and offset.
    const auto& blocks = counts_.blocks;
    for (std::size_t first = 0; first < blocks.size();) {
      const std::uint32_t function = blocks[first].function;
      std::size_t last = first;
      bool complete = true;
      while (last < blocks.size() && blocks[last].function == function) {
        complete = complete && !blocks[last].until;
        ++last;
      }
      if (counts_.functions[function].module == module_) {
        if (!complete) {
          ++sums_.left_out;
        } else if (const auto source = source_of(first, last)) {
          sums_.functions += visit(*source) ? 1 : 0;
        } else {
          ++sums_.without_lines;
        }
      }
      first = last;
    }
    return sums_;
  }

 private:
  std::optional<CountedSource> source_of(std::size_t first, std::size_t last) {
    const Block& hottest =
        *std::max_element(counts_.blocks.begin() + static_cast<std::ptrdiff_t>(first),
                          counts_.blocks.begin() + static_cast<std::ptrdiff_t>(last),
                          [](const Block& a, const Block& b) { return a.hits < b.hits; });
    const std::uint64_t start = counts_.functions[hottest.function].start;
    const auto place = lines_.find(hottest.offset, symbols_.starting_at(start));
    if (!place || place->frames.back().name.empty() ||
        place->function.end <= place->function.begin) {
      return std::nullopt;
    }
    CountedSource source{place->frames.back().name, 0, {}};
    const auto rows = lines_.rows_in(place->function);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const std::uint64_t end = row + 1 < rows.size() ? rows[row + 1] : place->function.end;
      add_row(source, rows[row], end, first, last);
    }
    source.head = entries(place->function, counts_.blocks[first]);
    return source;
  }

  void add_row(CountedSource& source, std::uint64_t begin, std::uint64_t end, std::size_t first,
               std::size_t last) {
    const auto found = lines_.find(begin, "");
    if (!found || !found->frames.front().source) {
      return;
    }
    CountedPlace place;
    for (auto frame = found->frames.rbegin(); frame != found->frames.rend(); ++frame) {
      if (!frame->source || frame->declared == 0) {
        return;
      }
      const auto [base, copies] = symbols::unpacked_discriminator(frame->discriminator);
      place.frames.push_back({frame->inlined ? frame->name : "",
                              line_in_function(frame->source->line, frame->declared), base});
    }
    const auto copies = symbols::unpacked_discriminator(found->frames.front().discriminator).copies;
    place.count = hits_within(begin, end, first, last) * copies;
    add_callees(place, begin, end);
    source.places.push_back(std::move(place));
  }

  /// Of the blocks numbered [first, last) that have code there, the largest.
  [[nodiscard]] std::uint64_t hits_within(std::uint64_t begin, std::uint64_t end, std::size_t first,
                                          std::size_t last) const {
    const auto from = counts_.blocks.begin() + static_cast<std::ptrdiff_t>(first);
    const auto to = counts_.blocks.begin() + static_cast<std::ptrdiff_t>(last);
    auto block = std::upper_bound(from, to, begin, [](std::uint64_t address, const Block& other) {
      return address < other.offset + other.size;
    });
    std::uint64_t most = 0;
    for (; block != to && block->offset < end; ++block) {
      most = std::max(most, block->hits);
    }
    return most;
  }

  void add_callees(CountedPlace& place, std::uint64_t begin, std::uint64_t end) const {
    for (auto edge = first_edge(begin); edge != edges_.end() && (*edge)->from < end; ++edge) {
      const bool is_call = (*edge)->flow == EdgeFlow::call;
      const std::string_view callee = is_call ? symbols_.starting_at((*edge)->to) : "";
      if (!callee.empty() && !(*edge)->until) {
        place.callees.emplace_back(callee.substr(0, callee.find('@')), (*edge)->hits);
      }
    }
  }

  /// How often the function in `range` was entered: its first block's hits, without those by its
  /// own loops.
  [[nodiscard]] std::uint64_t entries(const symbols::CodeRange& range, const Block& block) const {
    if (block.offset != range.begin) {
      return 0;
    }
    std::uint64_t loops = 0;
    for (auto edge = first_edge(range.begin); edge != edges_.end() && (*edge)->from < range.end;
         ++edge) {
      loops += (*edge)->to == range.begin && (*edge)->flow != EdgeFlow::call ? (*edge)->hits : 0;
    }
    return block.hits - std::min(block.hits, loops);
  }

  [[nodiscard]] std::vector<const Edge*>::const_iterator first_edge(std::uint64_t from) const {
    return std::lower_bound(edges_.begin(), edges_.end(), from,
                            [](const Edge* other, std::uint64_t a) { return other->from < a; });
  }

  const RecordedCode& counts_;
  std::uint32_t module_;
  symbols::DwarfLines lines_;
  symbols::SymbolTable symbols_;
  std::vector<const Edge*> edges_;  // within the module, by where they come from
  SourceSums sums_;
};

}  // namespace

core::Result<symbols::ElfSections> debug_sections(const CodeFile& file) {
  if (file.sections.has_dwarf()) {
    return file.sections;
  }
  const auto found =
      symbols::DebugFiles({}, "").find(file.path, file.sections, file.sections.build_id());
  if (!found) {
    return core::fail("autofdo: " + file.path +
                      " has no debug information; compile it with -gline-tables-only "
                      "-fdebug-info-for-profiling");
  }
  return symbols::ElfSections(found->file);
}

SourceSums for_each_source(const CodeFile& file, const RecordedCode& counts,
                           const std::function<bool(const CountedSource&)>& visit) {
  auto debug = debug_sections(file);
  return debug ? Counter(file, counts, std::move(*debug)).run(visit) : SourceSums{};
}

}  // namespace sp::convert
