#pragma once

#include <cstdint>
#include <vector>

#include "profiler/trace/trace_file.h"

namespace sp::profiler {

/// Turns the ticks of a trace into nanoseconds since the run's start: along the line between the
/// two pairs beside them; before the first and behind the last pair along the nearest line.
class TraceClock {
 public:
  /// Without a pair ticks are nanoseconds of CLOCK_MONOTONIC, of which `start_ns` is the run's
  /// start; with a single one they are nanoseconds as well. Pairs that go back are left out.
  TraceClock(std::vector<TraceClockPair> pairs, std::int64_t start_ns);

  [[nodiscard]] std::int64_t ns_at(std::uint64_t ticks) const;

 private:
  std::vector<TraceClockPair> pairs_;  // at least one; both numbers grow
};

}  // namespace sp::profiler
