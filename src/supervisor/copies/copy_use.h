#pragma once

#include <cstdint>

#include "core/clock.h"

namespace sp::supervisor {

/// What threads did in copies. Pure.
struct CopyUse {
  std::uint64_t executions = 0;  // of blocks, each of which was counted
  /// Of them those to which control came from the original, by a jump there: by calls, by returns,
  /// by tables.
  std::uint64_t arrivals = 0;

  CopyUse& operator+=(const CopyUse& other) {
    executions += other.executions;
    arrivals += other.arrivals;
    return *this;
  }

  /// How much longer all of that took than the original would have. bench/README.md has the
  /// measurements behind both prices.
  [[nodiscard]] core::Duration cost() const {
    constexpr std::uint64_t kPicosecondsOfExecution = 80;
    constexpr std::uint64_t kPicosecondsOfArrival = 650;
    return core::Duration{static_cast<std::int64_t>(
        (executions * kPicosecondsOfExecution + arrivals * kPicosecondsOfArrival) / 1000)};
  }
};

}  // namespace sp::supervisor
