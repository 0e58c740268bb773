#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "commands/diff/comparison.h"

namespace sp::diff {

/// Samples that stand for `unit` nanoseconds each.
struct SampledTime {
  std::uint64_t samples = 0;
  double unit = 0;

  [[nodiscard]] double ns() const { return static_cast<double>(samples) * unit; }
};

/// The times of one function, by run.
struct TimePair {
  std::vector<SampledTime> before;
  std::vector<SampledTime> after;
  bool with_callees = false;
};

/// Tests all times of a table and writes what it finds to `pairs`, one each. A time has changed if
/// it differs by more than 2 % and the probability that one of all the changes in the table is by
/// chance stays below 1 %: with one run a side by the noise of sampling, else by that and the
/// noise between the runs. Of several runs it has also changed if it did relative to the other
/// functions, and by itself at least half as much. `whole` are the runs' times.
void compare_times(std::span<const TimePair> times, const TimePair& whole,
                   std::span<Pair* const> pairs);

/// The CPU time of whole runs, tested in the same way, alone.
[[nodiscard]] Pair compare_whole(const TimePair& times);

}  // namespace sp::diff
