#pragma once

#include <chrono>
#include <cstdint>

namespace sp::core {

/// Every time within a run is CLOCK_MONOTONIC; wall-clock time appears only in run.json.
using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;
using Duration = std::chrono::nanoseconds;

[[nodiscard]] inline std::int64_t microseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

[[nodiscard]] inline double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace sp::core
