#pragma once

#include <cstdint>
#include <vector>

#include "core/clock.h"

namespace sp::supervisor {

/// What threads did in copies, and how much longer it took than the originals would have. Pure.
struct CopyUse {
  std::uint64_t executions = 0;  // of blocks, each of which was counted
  std::uint64_t branches = 0;    // that were counted by counters of their own
  /// Of the blocks those to which control came from the original, by a jump there: by calls, by
  /// returns, by tables.
  std::uint64_t arrivals = 0;
  /// Of the blocks those that end with a call which the copy makes itself: FunctionCopy.
  std::uint64_t emulated_calls = 0;
  /// Counted in a TransferTable; those of them around which code saves the flags.
  std::uint64_t transfers = 0;
  std::uint64_t transfers_with_flags = 0;
  std::uint64_t events = 0;  // written to an EventRing, or lost there
  core::Duration cost{};

  CopyUse& operator+=(const CopyUse& other) {
    executions += other.executions;
    branches += other.branches;
    arrivals += other.arrivals;
    emulated_calls += other.emulated_calls;
    transfers += other.transfers;
    transfers_with_flags += other.transfers_with_flags;
    events += other.events;
    cost += other.cost;
    return *this;
  }
};

/// What each of that costs. bench/README.md has the measurements behind the prices.
class CopyPrices {
 public:
  /// From how often control arrived by each of the jumps: a CPU remembers where a few of them lead,
  /// which then cost little.
  explicit CopyPrices(std::vector<std::uint64_t> arrivals);

  /// Of the rest of `use`.
  [[nodiscard]] core::Duration cost(const CopyUse& use) const;

 private:
  std::uint64_t arrival_;  // picoseconds
};

}  // namespace sp::supervisor
