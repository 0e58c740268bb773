#include "profiler/call_tree.h"

#include <algorithm>

namespace sp::profiler {

std::uint32_t CallTree::child(std::uint32_t parent, std::uint32_t function, bool inlined) {
  const std::uint32_t found = index_.find(mixed(function, parent), [&](std::uint32_t id) {
    return nodes_[id].parent == parent && nodes_[id].function == function;
  });
  if (found != IdIndex::kNone) {
    nodes_[found].inlined = nodes_[found].inlined && inlined;
    return found;
  }
  const auto id = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({parent, function, 0, inlined});
  index_.insert(id,
                [this](std::uint32_t of) { return mixed(nodes_[of].function, nodes_[of].parent); });
  return id;
}

std::vector<std::uint64_t> CallTree::totals() const {
  std::vector<std::uint64_t> totals(nodes_.size());
  for (std::size_t id = nodes_.size(); id-- > 0;) {
    totals[id] += nodes_[id].self;
    if (id != kRoot) {
      totals[nodes_[id].parent] += totals[id];
    }
  }
  return totals;
}

SortedChildren::SortedChildren(const CallTree& tree, std::span<const std::uint32_t> rank)
    : begin_(tree.nodes().size() + 1), children_(tree.nodes().size() - 1) {
  const std::vector<CallTree::Node>& nodes = tree.nodes();
  // A counting sort by parent, then the children of each by rank.
  for (std::size_t id = 1; id < nodes.size(); ++id) {
    ++begin_[nodes[id].parent + 1];
  }
  for (std::size_t id = 1; id < begin_.size(); ++id) {
    begin_[id] += begin_[id - 1];
  }
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  for (std::size_t id = 1; id < nodes.size(); ++id) {
    children_[next[nodes[id].parent]++] = static_cast<std::uint32_t>(id);
  }
  for (std::size_t id = 0; id < nodes.size(); ++id) {
    const auto at = [this](std::size_t place) {
      return children_.begin() + static_cast<std::ptrdiff_t>(place);
    };
    std::sort(at(begin_[id]), at(begin_[id + 1]), [&](std::uint32_t a, std::uint32_t b) {
      return rank[nodes[a].function] < rank[nodes[b].function];
    });
  }
}

}  // namespace sp::profiler
