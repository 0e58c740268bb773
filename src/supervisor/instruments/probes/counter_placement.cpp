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

class Finder {
 public:
  explicit Finder(std::span<const FlowBlock> blocks) : blocks_(blocks), from_(blocks.size()) {
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      by_start_.emplace(blocks[i].start, i);
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      note_ways_out(i);
    }
  }

  std::vector<DerivableBlock> find() {
    std::vector<DerivableBlock> found;
    if (!std::all_of(anywhere_.begin(), anywhere_.end(),
                     [this](std::size_t i) { return blocks_[i].tells; })) {
      return found;
    }
    // Each round finds those that need only probes and what was found: at the end what is left is
    // no candidate, or in a circle.
    std::vector<bool> is_found(blocks_.size());
    constexpr int kMostRounds = 16;
    bool any = true;
    for (int round = 0; any && round < kMostRounds; ++round) {
      any = false;
      for (std::size_t i = 0; i < blocks_.size(); ++i) {
        if (!is_found[i] && is_candidate(i) && !is_in_circle(i, is_found)) {
          found.push_back(derivable(i));
          is_found[i] = true;
          any = true;
        }
      }
    }
    return found;
  }

 private:
  void note_ways_out(std::size_t i) {
    const FlowBlock& block = blocks_[i];
    const Flow flow = block.last.flow;
    if (block.falls_through) {
      note(i, block.start + block.size);
      return;
    }
    if (flow == Flow::branch) {
      note(i, block.last.next());
    }
    if ((flow == Flow::branch || flow == Flow::jump) && block.last.target) {
      note(i, *block.last.target);
    }
    if (flow == Flow::indirect_jump) {
      anywhere_.push_back(i);
    }
    if (flow == Flow::call || flow == Flow::indirect_call) {
      returned_to_.insert(block.last.next());
    }
  }

  void note(std::size_t from, Address to) {
    if (const auto found = by_start_.find(to); found != by_start_.end()) {
      from_[found->second].push_back(from);
    }
  }

  /// Where control goes from a block that has one way out, to a block of the function.
  [[nodiscard]] std::optional<std::size_t> only_way_out(std::size_t i) const {
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
    return !block.is_entry && !returned_to_.contains(block.start) && only_way_out(i) &&
           (!from_[i].empty() || !anywhere_.empty());
  }

  /// One of those that it comes from is neither found nor tells it by a probe.
  [[nodiscard]] bool is_in_circle(std::size_t i, const std::vector<bool>& is_found) const {
    return std::any_of(from_[i].begin(), from_[i].end(), [&](std::size_t from) {
      return from == i || (!is_found[from] && (is_candidate(from) || !blocks_[from].tells));
    });
  }

  [[nodiscard]] DerivableBlock derivable(std::size_t i) const {
    DerivableBlock result{i, from_[i], {}};
    result.from.insert(result.from.end(), anywhere_.begin(), anywhere_.end());
    std::copy_if(from_[i].begin(), from_[i].end(), std::back_inserter(result.before),
                 [this](std::size_t from) { return blocks_[from].falls_through; });
    return result;
  }

  std::span<const FlowBlock> blocks_;
  std::unordered_map<Address, std::size_t> by_start_;
  std::vector<std::vector<std::size_t>> from_;
  std::vector<std::size_t> anywhere_;  // indirect jumps: their edges are counted as they go
  std::unordered_set<Address> returned_to_;
};

}  // namespace

std::vector<DerivableBlock> find_derivable(std::span<const FlowBlock> blocks) {
  return Finder(blocks).find();
}

}  // namespace sp::supervisor
