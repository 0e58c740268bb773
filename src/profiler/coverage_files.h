#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/coverage.h"
#include "profiler/line_coverage.h"
#include "profiler/run_directory.h"

namespace sp::profiler {

/// The files that --coverage adds to a run. The last two only where there is debug information.
constexpr std::array<std::string_view, 3> kCoverageFiles{"coverage.tsv", "coverage.info",
                                                         "cobertura.xml"};

struct CoverageFiles {
  CoverageTotals totals;
  std::optional<SourceCoverage::Totals> lines;
  std::vector<std::pair<std::string, RunDirectory::Writer>> files;  // own what they write
};

/// `version` is superprofiler's. A map that is for no source is told to the user.
[[nodiscard]] CoverageFiles coverage_files(const ProbedProfile& profile, Namer& namer,
                                           const CountsContext& context, core::Coverage level,
                                           const std::vector<SourceMap>& maps,
                                           const std::string& version);

}  // namespace sp::profiler
