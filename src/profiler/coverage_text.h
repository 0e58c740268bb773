#pragma once

#include <optional>
#include <string>

#include "profiler/coverage.h"
#include "profiler/line_coverage.h"

namespace sp::profiler {

/// "coverage: 9 of 10 functions entered (90.0 %); 35 of the 48 blocks of these reached (72.9 %)"
[[nodiscard]] std::string coverage_text(const CoverageTotals& totals,
                                        const std::optional<SourceCoverage::Totals>& lines);

}  // namespace sp::profiler
