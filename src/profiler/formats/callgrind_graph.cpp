#include "profiler/formats/callgrind_graph.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace sp::profiler {

using core::EdgeFlow;

CallgrindGraph::CallgrindGraph(const RecordedCode* code, StackSource& stacks) : code_(code) {
  if (code_ != nullptr) {
    add_counted_functions();
  }
  add_sampled_functions(stacks);
  add_stacks(stacks);
  if (code_ != nullptr) {
    add_edges();
    estimate_inclusive();
  }
}

void CallgrindGraph::add_counted_functions() {
  for (const RecordedCode::Function& function : code_->functions) {
    nodes_.push_back({code_->modules[function.module], function.name, {}, function.start});
  }
  for (const RecordedCode::Block& block : code_->blocks) {
    Node& node = nodes_[block.function];
    node.executed += block.executed();
    if (node.file.empty()) {  // the first block with one: usually the function's first
      node.file = code_->files[block.file];
    }
  }
  blocks_by_place_.resize(code_->blocks.size());
  std::iota(blocks_by_place_.begin(), blocks_by_place_.end(), 0U);
  std::sort(blocks_by_place_.begin(), blocks_by_place_.end(), [this](auto a, auto b) {
    const auto key = [this](std::uint32_t i) {
      const RecordedCode::Block& block = code_->blocks[i];
      return std::tuple(code_->functions[block.function].module, block.offset, i);
    };
    return key(a) < key(b);
  });
}

void CallgrindGraph::add_sampled_functions(StackSource& stacks) {
  std::map<std::pair<std::string_view, std::string_view>, std::uint32_t> counted;
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    counted.try_emplace({nodes_[i].module, nodes_[i].name}, i);
  }
  for (const RecordedFunction& function : stacks.functions()) {
    const auto found = counted.find({function.module, function.name});
    if (found != counted.end()) {
      node_of_sampled_.push_back(found->second);
    } else {
      node_of_sampled_.push_back(static_cast<std::uint32_t>(nodes_.size()));
      nodes_.push_back({function.module, function.name, function.file});
    }
    Node& node = nodes_[node_of_sampled_.back()];
    node.samples += function.self_samples;
    node.calls = std::max(node.calls, function.calls.value_or(0));
    if (node.file.empty()) {
      node.file = function.file;
    }
    if (node.file == function.file) {
      node.line = function.line;
    }
  }
}

void CallgrindGraph::add_stacks(StackSource& stacks) {
  struct Seen {
    std::uint64_t samples = 0;
    std::uint64_t last_stack = 0;  // a call counts once in a stack
  };
  std::unordered_map<std::uint64_t, Seen> seen;  // by caller and callee
  std::uint64_t stack = 0;
  stacks.for_each([&](std::span<const std::uint32_t> frames, std::uint64_t samples) {
    ++stack;
    for (std::size_t i = 1; i < frames.size(); ++i) {
      const std::uint64_t from = node_of_sampled_[frames[i - 1]];
      const std::uint32_t to = node_of_sampled_[frames[i]];
      Seen& call = seen[(from << 32U) | to];
      if (from != to && call.last_stack != stack) {
        call.samples += samples;
        call.last_stack = stack;
      }
    }
  });
  for (const auto& [call, sum] : seen) {
    if (sum.samples > 0) {
      sampled_calls_[static_cast<std::uint32_t>(call >> 32U)][static_cast<std::uint32_t>(call)]
          .samples = sum.samples;
    }
  }
}

const CallgrindGraph::SampledCalls& CallgrindGraph::sampled_calls(std::uint32_t from) const {
  static const SampledCalls kNone;
  const auto found = sampled_calls_.find(from);
  return found == sampled_calls_.end() ? kNone : found->second;
}

/// Of overlapping blocks, the one that starts last.
const std::uint32_t* CallgrindGraph::block_with(std::uint32_t module, std::uint64_t offset) const {
  const auto behind = std::upper_bound(
      blocks_by_place_.begin(), blocks_by_place_.end(), std::pair(module, offset),
      [this](const std::pair<std::uint32_t, std::uint64_t>& place, std::uint32_t i) {
        const RecordedCode::Block& block = code_->blocks[i];
        return place < std::pair(code_->functions[block.function].module, block.offset);
      });
  if (behind == blocks_by_place_.begin()) {
    return nullptr;
  }
  const std::uint32_t& found = *(behind - 1);
  const RecordedCode::Block& block = code_->blocks[found];
  const bool holds = code_->functions[block.function].module == module &&
                     offset - block.offset < std::max(1U, block.size);
  return holds ? &found : nullptr;
}

void CallgrindGraph::add_edges() {
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> fell_through;
  for (const RecordedCode::Edge& edge : code_->edges) {
    if (edge.flow == EdgeFlow::fallthrough) {
      fell_through[{edge.from_module, edge.from}] += edge.hits;
    }
  }
  for (const RecordedCode::Edge& edge : code_->edges) {
    const std::uint32_t* from =
        edge.flow == EdgeFlow::entry ? nullptr : block_with(edge.from_module, edge.from);
    const std::uint32_t* to = block_with(edge.to_module, edge.to);
    if (from == nullptr || to == nullptr || edge.flow == EdgeFlow::ret) {
      continue;
    }
    const RecordedCode::Block& source = code_->blocks[*from];
    const RecordedCode::Block& target = code_->blocks[*to];
    // A jump into another function is a call without a return address, as callgrind has it.
    if (edge.flow == EdgeFlow::call || source.function != target.function) {
      calls_.push_back(
          {*from, target.function, edge.from, edge.to, target.line, edge.hits, 0, edge.to_the_end});
    } else if (edge.flow != EdgeFlow::fallthrough) {
      const auto fell = fell_through.find({edge.from_module, edge.from});
      add_jump(edge, *from, fell == fell_through.end() ? 0 : fell->second);
      jumps_.back().to_line = target.line;
    }
  }
  const auto by_place = [](const auto& a, const auto& b) {
    return std::tie(a.block, a.from, a.to) < std::tie(b.block, b.from, b.to);
  };
  std::sort(calls_.begin(), calls_.end(), by_place);
  std::sort(jumps_.begin(), jumps_.end(), by_place);
}

void CallgrindGraph::add_jump(const RecordedCode::Edge& edge, std::uint32_t block,
                              std::uint64_t fell_through) {
  const bool conditional = edge.flow == EdgeFlow::taken;
  jumps_.push_back({block, 0, edge.from, edge.to, edge.hits,
                    edge.hits + (conditional ? fell_through : 0), conditional});
}

/// Where no call of a function was counted, because they came before counting began or from code
/// that is not counted, samples stand in for the numbers of calls.
void CallgrindGraph::estimate_inclusive() {
  std::vector<std::uint64_t> self;
  std::vector<std::uint64_t> all_calls;
  const bool is_whole = code_->blocks_to_the_end == code_->blocks.size();
  for (const Node& node : nodes_) {
    self.push_back(node.executed);
    // Edges end when a function moves to a copy, calls go on: the rest has the same callers.
    all_calls.push_back(is_whole ? node.calls : 0);
  }
  std::vector<CallArc> arcs;
  std::vector<bool> is_counted(nodes_.size());
  for (const Call& call : calls_) {
    const std::uint32_t from = code_->blocks[call.block].function;
    arcs.push_back({from, call.to_node, call.calls});
    is_counted[call.to_node] = is_counted[call.to_node] || from != call.to_node;
  }
  std::vector<SampledCall*> sampled;
  for (auto& [from, calls] : sampled_calls_) {
    for (auto& [to, call] : calls) {
      if (!is_counted[to]) {
        all_calls[to] = 0;
        arcs.push_back({from, to, call.samples});
        sampled.push_back(&call);
      }
    }
  }
  const std::vector<std::uint64_t> costs = shared_out_costs(self, all_calls, arcs);
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    (i < calls_.size() ? calls_[i].executed : sampled[i - calls_.size()]->executed) = costs[i];
  }
}

}  // namespace sp::profiler
