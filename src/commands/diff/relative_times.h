#pragma once

#include <span>
#include <vector>

#include "commands/diff/statistics.h"
#include "commands/diff/time_comparison.h"

namespace sp::diff {

/// How the times of several runs a side change relative to each other: a machine that is slower in
/// one run, or on one side, is slower for all functions.
struct RelativeChange {
  double p = 1;       // that the function differs from the others by chance alone
  double change = 0;  // of its time, as a share, beyond that of the others
};

/// By time, each of a function itself. What all functions of a run have in common is taken out by
/// the run's whole time; between the sides, by the median change of the other functions, weighted
/// by their times. So a function with half of the time or more has p = 1: the others cannot tell
/// what the machine did.
[[nodiscard]] std::vector<RelativeChange> relative_changes(std::span<const TimePair> times,
                                                           const TimePair& whole);

}  // namespace sp::diff
