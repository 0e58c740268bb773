#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/code_counts.h"
#include "core/messages.h"
#include "profiler/id_index.h"

namespace sp::profiler {

[[nodiscard]] std::uint64_t hash_of(core::ModuleOffset where);

/// Sums edges, distinct by from, to and flow. Memory is bounded: beyond `most` edges, new ones are
/// not kept and their hits are counted as dropped.
class EdgeSums {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 22U;
  using Edge = core::CodeEdge<core::ModuleOffset>;

  explicit EdgeSums(std::size_t most) : most_(most) {}

  void add(const Edge& edge);
  void clear() { *this = EdgeSums(most_); }

  /// Hits are above 0.
  [[nodiscard]] const std::vector<Edge>& all() const { return edges_; }
  [[nodiscard]] std::uint64_t dropped_hits() const { return dropped_hits_; }

 private:
  std::size_t most_;
  std::vector<Edge> edges_;
  IdIndex index_;
  std::uint64_t dropped_hits_ = 0;
};

}  // namespace sp::profiler
