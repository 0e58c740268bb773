#pragma once

#include "cli/cli.h"

/// superprofiler coverage [RUN]: the lines of source files that a run has executed.
/// superprofiler coverage --counts RUN: how often, by blocks.tsv.
/// superprofiler coverage merge RUN RUN.. -o DIR: joins runs.
namespace sp::coverage {

/// Returns the exit status: 0; 125 if a run cannot be read, or a file not be written. Errors go to
/// stderr.
[[nodiscard]] int run(const cli::CoverageOptions& options);

}  // namespace sp::coverage
