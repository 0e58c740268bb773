#pragma once

#include <span>
#include <string>
#include <vector>

#include "profiler/coverage.h"

namespace sp::profiler {

struct MergedCoverage {
  CoverageTable table;
  /// Paths that different builds of a file had: these stay apart.
  std::vector<std::string> several_builds;
};

/// What was reached in any of the runs. A file is the same in all of them if its build-id is, or if
/// it has none and its path is. A block of one run that others have cut into several is cut, too.
[[nodiscard]] MergedCoverage merged(std::span<const CoverageTable> runs);

}  // namespace sp::profiler
