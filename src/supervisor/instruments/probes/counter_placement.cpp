#include "supervisor/instruments/probes/counter_placement.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace sp::supervisor {
namespace {

using core::Address;
using core::Flow;

class CounterPlacement {
 public:
  explicit CounterPlacement(std::span<const FlowBlock> blocks)
      : blocks_(blocks), predecessors_(blocks.size()) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      by_start_.emplace(blocks[i].start, i);
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      add_successors(i);
    }
  }

  std::vector<DerivableBlock> find() {
    std::vector<DerivableBlock> found;
    if (!std::all_of(indirect_jumps_.begin(), indirect_jumps_.end(),
                     [this](std::size_t i) { return blocks_[i].counts_edges; })) {
      return found;
    }
    // A round finds the blocks that depend only on probes and on blocks found before. What remains
    // after the last round is no candidate or is in a cycle of candidates.
    std::vector<bool> is_found(blocks_.size());
    constexpr int kMostRounds = 16;
    bool any = true;
    for (int round = 0; any && round < kMostRounds; ++round) {
      any = false;
      for (std::size_t i = 0; i < blocks_.size(); ++i) {
        if (!is_found[i] && is_candidate(i) && !depends_on_unknown(i, is_found)) {
          found.push_back(derivable(i));
          is_found[i] = true;
          any = true;
        }
      }
    }
    return found;
  }

 private:
  void add_successors(std::size_t i) {
    const FlowBlock& block = blocks_[i];
    const Flow flow = block.last.flow;
    if (block.falls_through) {
      add_edge(i, block.start + block.size);
      return;
    }
    if (flow == Flow::branch) {
      add_edge(i, block.last.next());
    }
    if ((flow == Flow::branch || flow == Flow::jump) && block.last.target) {
      add_edge(i, *block.last.target);
    }
    if (flow == Flow::indirect_jump) {
      indirect_jumps_.push_back(i);
    }
    if (flow == Flow::call || flow == Flow::indirect_call) {
      return_sites_.insert(block.last.next());
    }
  }

  void add_edge(std::size_t from, Address to) {
    if (const auto found = by_start_.find(to); found != by_start_.end()) {
      predecessors_[found->second].push_back(from);
    }
  }

  /// The block's successor, if it has exactly one and that is a block of the function.
  [[nodiscard]] std::optional<std::size_t> only_successor(std::size_t i) const {
    const FlowBlock& block = blocks_[i];
    std::optional<Address> to;
    if (block.falls_through) {
      to = block.start + block.size;
    } else if (block.last.flow == Flow::jump) {
      to = block.last.target;
    }
    const auto found = to ? by_start_.find(*to) : by_start_.end();
    return found == by_start_.end() ? std::nullopt : std::optional(found->second);
  }

  [[nodiscard]] bool is_candidate(std::size_t i) const {
    const FlowBlock& block = blocks_[i];
    return !block.is_entry && !return_sites_.contains(block.start) && only_successor(i) &&
           (!predecessors_[i].empty() || !indirect_jumps_.empty());
  }

  /// Some incoming edge is not counted by a probe, nor does its count follow from those of blocks
  /// found before.
  [[nodiscard]] bool depends_on_unknown(std::size_t i, const std::vector<bool>& is_found) const {
    return std::any_of(predecessors_[i].begin(), predecessors_[i].end(), [&](std::size_t from) {
      return from == i || (!is_found[from] && (is_candidate(from) || !blocks_[from].counts_edges));
    });
  }

  [[nodiscard]] DerivableBlock derivable(std::size_t i) const {
    DerivableBlock result{i, predecessors_[i], {}};
    result.predecessors.insert(result.predecessors.end(), indirect_jumps_.begin(),
                               indirect_jumps_.end());
    std::copy_if(predecessors_[i].begin(), predecessors_[i].end(),
                 std::back_inserter(result.fallthrough_predecessors),
                 [this](std::size_t from) { return blocks_[from].falls_through; });
    return result;
  }

  std::span<const FlowBlock> blocks_;
  std::unordered_map<Address, std::size_t> by_start_;
  std::vector<std::vector<std::size_t>> predecessors_;
  std::vector<std::size_t> indirect_jumps_;  // their edges are counted with the targets they take
  std::unordered_set<Address> return_sites_;
};

}  // namespace

std::vector<DerivableBlock> find_derivable(std::span<const FlowBlock> blocks) {
  return CounterPlacement(blocks).find();
}

}  // namespace sp::supervisor
