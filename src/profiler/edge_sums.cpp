#include "profiler/edge_sums.h"

#include <algorithm>

namespace sp::profiler {
namespace {

std::uint64_t hash_of_edge(const EdgeSums::Edge& edge) {
  return mixed(hash_of(edge.from) + static_cast<std::uint64_t>(edge.flow), hash_of(edge.to));
}

}  // namespace

std::uint64_t hash_of(core::ModuleOffset where) {
  return mixed(static_cast<std::uint64_t>(where.module), where.offset);
}

void EdgeSums::add(const Edge& edge) {
  if (edge.hits == 0) {
    return;
  }
  const std::uint32_t known = index_.find(hash_of_edge(edge), [&](std::uint32_t id) {
    const Edge& other = edges_[id];
    return other.from == edge.from && other.to == edge.to && other.flow == edge.flow;
  });
  if (known != IdIndex::kNone) {
    Edge& sum = edges_[known];
    sum.hits += edge.hits;
    sum.first = std::min(sum.first, edge.first);
    sum.last = std::max(sum.last, edge.last);
    return;
  }
  if (edges_.size() >= most_) {
    dropped_hits_ += edge.hits;
    return;
  }
  edges_.push_back(edge);
  index_.insert(static_cast<std::uint32_t>(edges_.size() - 1),
                [this](std::uint32_t id) { return hash_of_edge(edges_[id]); });
}

}  // namespace sp::profiler
