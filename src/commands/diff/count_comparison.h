#pragma once

#include <optional>
#include <vector>

#include "commands/diff/comparison.h"

namespace sp::diff {

/// Counts of one thing, by run; nothing where a run does not have it. A kind of "" goes with every
/// other: a 0.
///
/// Counts are comparable if all are there and of one kind that has no end: until a probe is
/// removed, each run gets as far as it gets. They are compared exactly. Where those of a side are
/// not all the same, their ranges have to be further apart than each of them is wide.
[[nodiscard]] Pair compare_counts(Metric metric, const std::vector<std::optional<Count>>& before,
                                  const std::vector<std::optional<Count>>& after);

}  // namespace sp::diff
