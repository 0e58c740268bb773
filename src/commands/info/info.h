#pragma once

#include "cli/cli.h"

/// superprofiler info [RUN]: what the recording of a run holds.
namespace sp::info {

/// Prints it to stdout and returns the exit status: 0; 125 if there is no recording. Errors and
/// damage go to stderr.
[[nodiscard]] int run(const cli::InfoOptions& options);

}  // namespace sp::info
