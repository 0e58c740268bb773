#include "profiler/named_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "profiler/probed_blocks.h"

namespace sp::profiler {
namespace {

std::string text_of(const std::optional<symbols::SourceLine>& source) {
  return source ? fmt::format("{}:{}", source->file, source->line) : std::string();
}

/// Does the work of name_code(), which names the steps below in their order.
class CodeNaming {
 public:
  explicit CodeNaming(Namer& namer) : namer_(namer) {}

  NamedCode run(const CountedCode& counted, std::uint64_t dropped_hits) {
    take(counted, dropped_hits);
    count_calls();
    sort();
    return std::move(named_);
  }

  NamedCode run(const CountedCode& counted, std::uint64_t dropped_hits,
                std::span<const PcSamples> samples) {
    named_.by_probes = true;
    take(counted, dropped_hits);
    take_calls_from_hits(counted);
    for (NamedBlock& row : named_.blocks) {
      row.samples = samples_in(samples, row.block.start, row.block.size);
    }
    sort();
    return std::move(named_);
  }

 private:
  void take(const CountedCode& counted, std::uint64_t dropped_hits) {
    named_.executions = executions(counted);
    named_.instructions = executed_instructions(counted);
    named_.consistency = counted.consistency;
    named_.lost_hits = counted.unplaced_hits + dropped_hits;
    named_.edges = counted.edges;
    name_blocks(counted.blocks);
  }

  void name_blocks(const std::vector<CodeBlock>& blocks) {
    named_.blocks.reserve(blocks.size());
    std::vector<std::uint64_t> most;  // by function: instructions executed in its hottest block
    for (const CodeBlock& block : blocks) {
      if (block.hits == 0) {
        continue;
      }
      const std::vector<symbols::NamedFrame>& frames = namer_.name(block.start, false);
      const std::uint32_t function = function_number(block.start.module, frames.back());
      std::string source = text_of(frames.front().source);
      most.resize(named_.functions.size());
      const std::uint64_t weight = block.hits * block.instructions;
      if (weight > most[function] && frames.back().source) {
        most[function] = weight;
        named_.functions[function].source = text_of(frames.back().source);
      }
      function_of_.emplace(block.start, function);
      ends_in_.emplace(core::ModuleOffset{block.start.module, block.last}, function);
      named_.blocks.push_back({block, function, std::move(source)});
    }
  }

  std::uint32_t function_number(core::ModuleId module, const symbols::NamedFrame& frame) {
    const auto [place, is_new] = numbers_.try_emplace({module, frame.start, frame.function},
                                                      static_cast<std::uint32_t>(numbers_.size()));
    if (is_new) {
      named_.functions.push_back({frame.function, module, frame.start, {}, 0});
    }
    return place->second;
  }

  void count_calls() {
    for (const CountedEdge& edge : named_.edges) {
      const auto to = function_of_.find(edge.to);
      if (to == function_of_.end()) {
        continue;
      }
      CodeFunction& function = named_.functions[to->second];
      if (edge.to.offset == function.start && !is_within(edge, to->second)) {
        function.calls += edge.hits;
      }
    }
  }

  [[nodiscard]] bool is_within(const CountedEdge& edge, std::uint32_t function) const {
    const auto from = ends_in_.find(edge.from);
    return from != ends_in_.end() && from->second == function &&
           edge.flow != core::EdgeFlow::call && edge.flow != core::EdgeFlow::entry;
  }

  void take_calls_from_hits(const CountedCode& counted) {
    std::unordered_map<core::ModuleOffset, const CodeBlock*> block_at;
    for (const CodeBlock& block : counted.blocks) {
      block_at.emplace(block.start, &block);
    }
    for (CodeFunction& function : named_.functions) {
      const auto first = block_at.find({function.module, function.start});
      function.has_calls = first != block_at.end() && !first->second->is_jumped_to;
      if (function.has_calls) {
        function.calls = first->second->hits;
        function.calls_span = first->second->span;
      }
    }
    for (const CountedEdge& edge : named_.edges) {
      const auto to = function_of_.find(edge.to);
      if (to != function_of_.end() && edge.to.offset == named_.functions[to->second].start &&
          is_within(edge, to->second)) {
        CodeFunction& function = named_.functions[to->second];
        function.has_calls = function.has_calls && edge.span == function.calls_span;
        // A thread may have jumped back to the start without having finished the block yet.
        function.calls -= std::min(function.calls, edge.hits);
      }
    }
  }

  void sort() {
    std::sort(
        named_.blocks.begin(), named_.blocks.end(), [](const NamedBlock& a, const NamedBlock& b) {
          return std::tie(b.block.hits, a.block.start) < std::tie(a.block.hits, b.block.start);
        });
    std::sort(
        named_.edges.begin(), named_.edges.end(), [](const CountedEdge& a, const CountedEdge& b) {
          return std::tie(b.hits, a.from, a.to, a.flow) < std::tie(a.hits, b.from, b.to, b.flow);
        });
  }

  Namer& namer_;
  NamedCode named_;
  std::map<std::tuple<core::ModuleId, std::uint64_t, std::string>, std::uint32_t> numbers_;
  std::unordered_map<core::ModuleOffset, std::uint32_t> function_of_;  // by a block's start
  std::unordered_map<core::ModuleOffset, std::uint32_t> ends_in_;      // by its last instruction
};

}  // namespace

NamedCode name_code(const CodeProfile& profile, Namer& namer, std::uint64_t threads,
                    bool may_leave) {
  return CodeNaming(namer).run(derive_blocks(profile, threads, may_leave), profile.dropped_hits());
}

NamedCode name_code(const ProbedProfile& profile, std::span<const PcSamples> samples, Namer& namer,
                    std::uint64_t threads) {
  return CodeNaming(namer).run(probed_blocks(profile, threads), profile.dropped_hits(), samples);
}

std::string kind_of_all(const NamedCode& code, const CountsContext& context) {
  const CountedSpan first = code.blocks.empty() ? CountedSpan{} : code.blocks.front().block.span;
  const bool same = std::all_of(code.blocks.begin(), code.blocks.end(),
                                [&](const NamedBlock& row) { return row.block.span == first; });
  return same ? context.kind(first) : "mixed";
}

void add_calls(std::vector<Function>& functions, const NamedCode& code,
               std::span<const core::Module> modules) {
  std::map<core::ModuleId, const core::Module*> known;
  for (const core::Module& module : modules) {
    known.emplace(module.id, &module);
  }
  std::map<std::pair<std::string, std::string>, std::size_t> rows;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    rows.emplace(std::pair(functions[i].module, functions[i].name), i);
  }
  std::vector<std::size_t> incomplete;
  for (const CodeFunction& counted : code.functions) {
    const auto module = known.find(counted.module);
    const core::Module* of = module == known.end() ? nullptr : module->second;
    const auto [row, is_new] =
        rows.try_emplace({of == nullptr ? "[unknown]" : of->path, counted.name}, functions.size());
    if (is_new) {
      functions.push_back({counted.name, row->first.first, counted.source, kind_of(of)});
    }
    Function& function = functions[row->second];
    function.calls = function.calls.value_or(0) + counted.calls;
    function.calls_span = shared(function.calls_span, counted.calls_span);
    if (!counted.has_calls) {
      incomplete.push_back(row->second);
    }
  }
  for (const std::size_t row : incomplete) {
    functions[row].calls.reset();
  }
}

}  // namespace sp::profiler
