#pragma once

#include <string>
#include <vector>

#include "core/result.h"
#include "profiler/coverage.h"

namespace sp::run_files {

/// How often the code of a run's files was executed, by its blocks.tsv and edges.tsv; with the
/// functions of these files that were not, as one row each. `notes` gets the files that are not
/// there as they were. Errors: there is no such run, or it has not counted everything (-a,
/// --single).
[[nodiscard]] core::Result<profiler::CoverageTable> counted_coverage(
    const std::string& run, const std::vector<std::string>& debug_directories,
    std::vector<std::string>& notes);

}  // namespace sp::run_files
