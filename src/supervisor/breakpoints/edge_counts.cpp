#include "supervisor/breakpoints/edge_counts.h"

namespace sp::supervisor {

EdgeCounts::Edge& EdgeCounts::at(core::Address from, core::Address to, core::EdgeFlow flow) {
  const Key key{from.value(), to.value(), flow == core::EdgeFlow::entry};
  const auto [found, is_new] = index_.try_emplace(key, nullptr);
  if (is_new) {
    found->second = &edges_.emplace_back(Edge{from, to, flow, 0, {}, {}});
  }
  return *found->second;
}

std::vector<EdgeCounts::Edge> EdgeCounts::take() {
  std::vector<Edge> taken;
  for (Edge& edge : edges_) {
    if (edge.hits > 0) {
      taken.push_back(edge);
      edge.hits = 0;
    }
  }
  return taken;
}

void EdgeCounts::clear() {
  index_.clear();
  edges_.clear();
}

}  // namespace sp::supervisor
