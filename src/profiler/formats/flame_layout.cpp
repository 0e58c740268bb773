#include "profiler/formats/flame_layout.h"

#include <algorithm>

namespace sp::profiler {

FlameLayout lay_out_flame(const NamedProfile& profile, double narrowest) {
  const std::vector<CallTree::Node>& nodes = profile.tree.nodes();
  const std::vector<std::uint64_t> totals = profile.tree.totals();
  const std::vector<std::uint32_t> rank = name_ranks(profile.functions);
  const SortedChildren children(profile.tree, rank);

  FlameLayout layout;
  layout.total = totals[CallTree::kRoot];
  layout.boxes.push_back({.samples = layout.total, .self = nodes[CallTree::kRoot].self});
  const double least = narrowest * static_cast<double>(layout.total);
  // By depth: where the next box starts. A caller's self samples are to the right of its callees.
  std::vector<std::uint64_t> next = {0};
  walk(
      children,
      [&](std::uint32_t node, std::size_t depth) {
        next.resize(depth + 1);
        const std::uint64_t start = next[depth];
        next[depth] += totals[node];
        next.push_back(start);
        if (totals[node] == 0 || static_cast<double>(totals[node]) < least) {
          layout.left_out += totals[node] == 0 ? 0 : 1;
          return;
        }
        layout.boxes.push_back({nodes[node].function, static_cast<std::uint32_t>(depth + 1), start,
                                totals[node], nodes[node].self, nodes[node].inlined, node});
        layout.levels = std::max(layout.levels, depth + 2);
      },
      [](std::uint32_t) {});
  return layout;
}

}  // namespace sp::profiler
