#pragma once

#include "cli/cli.h"

namespace sp::ctl {

/// Sends one command to a run with --control and prints its answer to stdout. Returns the exit
/// status: 0, 1 if the run has refused the command, 125 if nobody listens or answers. Reports
/// errors to the user.
[[nodiscard]] int run(const cli::CtlOptions& options);

}  // namespace sp::ctl
