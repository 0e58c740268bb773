#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>

namespace sp::core {

/// Every time within a run is CLOCK_MONOTONIC; wall-clock time appears only in run.json.
using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;
using Duration = std::chrono::nanoseconds;

/// How long the calling thread was on a CPU so far.
[[nodiscard]] inline Duration thread_cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

[[nodiscard]] inline std::int64_t microseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

[[nodiscard]] inline double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace sp::core
