#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "profiler/id_index.h"

namespace sp::profiler {

/// Stacks by function, as a tree: every path from the root is a distinct stack, outermost function
/// first. Functions are numbers that the owner defines.
class CallTree {
 public:
  struct Node {
    std::uint32_t parent = IdIndex::kNone;
    std::uint32_t function = IdIndex::kNone;
    std::uint64_t self = 0;  // samples that ended here
    bool inlined = false;    // every visit was to an inlined copy of the function
  };
  static constexpr std::uint32_t kRoot = 0;

  CallTree() : nodes_(1) {}

  /// The node of `function` called from `parent`, created if new.
  std::uint32_t child(std::uint32_t parent, std::uint32_t function, bool inlined = false);
  void add_self(std::uint32_t node, std::uint64_t samples) { nodes_[node].self += samples; }

  /// A parent's number is smaller than its children's; nodes()[kRoot] has no function.
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  /// By node: the samples that ended in it or below it.
  [[nodiscard]] std::vector<std::uint64_t> totals() const;

 private:
  std::vector<Node> nodes_;
  IdIndex index_;
};

/// The children of every node, sorted.
class SortedChildren {
 public:
  /// `rank` orders the children of a node: rank[function].
  SortedChildren(const CallTree& tree, std::span<const std::uint32_t> rank);

  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t node) const {
    return std::span(children_).subspan(begin_[node], begin_[node + 1] - begin_[node]);
  }

 private:
  std::vector<std::size_t> begin_;
  std::vector<std::uint32_t> children_;
};

/// Calls enter(node, depth) for each node except the root, parents first, siblings in order, and
/// leave(node) after all nodes below it. Not recursive: a target's stacks may be deep.
template <typename Enter, typename Leave>
void walk(const SortedChildren& children, Enter enter, Leave leave) {
  struct Level {
    std::span<const std::uint32_t> siblings;
    std::size_t next = 0;
  };
  std::vector<Level> levels = {{children.of(CallTree::kRoot)}};
  while (true) {
    Level& level = levels.back();
    if (level.next < level.siblings.size()) {
      const std::uint32_t node = level.siblings[level.next++];
      enter(node, levels.size() - 1);
      levels.push_back({children.of(node)});
      continue;
    }
    levels.pop_back();
    if (levels.empty()) {
      return;
    }
    leave(levels.back().siblings[levels.back().next - 1]);
  }
}

}  // namespace sp::profiler
