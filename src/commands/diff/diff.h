#pragma once

#include "cli/cli.h"

/// superprofiler diff A B: what differs between two runs, or between several of each.
namespace sp::diff {

/// Prints the differences to stdout and returns the exit status: 0; 1 if a rule of --fail-on is
/// broken; 2 if a rule is none; 125 if a run cannot be read or the flame graph not written. Errors,
/// damage and broken rules go to stderr.
[[nodiscard]] int run(const cli::DiffOptions& options);

}  // namespace sp::diff
