#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "core/address.h"
#include "core/clock.h"
#include "core/code_counts.h"

namespace sp::supervisor {

/// Counts how often control went from one place to another.
class EdgeCounts {
 public:
  using Edge = core::CodeEdge<core::Address>;

  /// The counter of an edge; it stays where it is until clear(). For EdgeFlow::entry `from` is
  /// `to`.
  [[nodiscard]] Edge& at(core::Address from, core::Address to, core::EdgeFlow flow);

  static void count(Edge& edge, core::TimePoint now, std::uint64_t times = 1) {
    if (edge.hits == 0) {
      edge.first = now;
    }
    edge.hits += times;
    edge.last = now;
  }

  /// What was counted since the last call.
  [[nodiscard]] std::vector<Edge> take();

  /// Forgets every edge; what was counted and not taken is lost.
  void clear();

 private:
  struct Key {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    bool entry = false;  // a jump to itself is not an entry

    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const noexcept {
      return static_cast<std::size_t>((key.from * 0x9E3779B97F4A7C15ULL) ^ key.to);
    }
  };

  std::deque<Edge> edges_;
  std::unordered_map<Key, Edge*, Hash> index_;
};

}  // namespace sp::supervisor
