#pragma once

#include <array>
#include <cstdint>

#include "core/address.h"
#include "supervisor/breakpoints/edge_counts.h"

namespace sp::supervisor {

/// The two destinations that a branch took last and the counters of those edges, so that the common
/// case needs no look-up. An inline cache.
class EdgeCache {
 public:
  /// The counter of the edge to `to`; nullptr on a miss.
  [[nodiscard]] EdgeCounts::Edge* find(core::Address to) const {
    for (const Entry& entry : entries_) {
      if (entry.edge != nullptr && entry.to == to) {
        return entry.edge;
      }
    }
    return nullptr;
  }

  /// Replaces the older entry. `edge` must stay where it is until clear().
  void remember(core::Address to, EdgeCounts::Edge& edge) {
    entries_[oldest_] = {to, &edge};
    oldest_ ^= 1U;
  }

  void clear() { entries_ = {}; }

 private:
  struct Entry {
    core::Address to;
    EdgeCounts::Edge* edge = nullptr;
  };
  std::array<Entry, 2> entries_{};
  std::uint8_t oldest_ = 0;
};

}  // namespace sp::supervisor
