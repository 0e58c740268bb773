#pragma once

#include <iosfwd>

#include "profiler/line_coverage.h"

namespace sp::profiler {

/// A tracefile of lcov (geninfo(1), "FILES"), for lcov, genhtml and what reads such files.
void write_lcov(std::ostream& out, const SourceCoverage& coverage);

}  // namespace sp::profiler
