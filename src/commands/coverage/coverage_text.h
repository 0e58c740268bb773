#pragma once

#include <string>

#include "profiler/coverage.h"
#include "profiler/line_coverage.h"

namespace sp::coverage {

/// A table of source files, least covered first, and one of modules without lines; lines end in
/// "\n".
[[nodiscard]] std::string coverage_text(const profiler::CoverageTable& table,
                                        const profiler::SourceCoverage& sources);

}  // namespace sp::coverage
