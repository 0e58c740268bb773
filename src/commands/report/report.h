#pragma once

#include "cli/cli.h"

/// superprofiler report [RUN]: the functions of a finished run as a table.
namespace sp::report {

/// Prints the table to stdout and returns the exit status: 0; 2 if no function has the name that
/// was asked for; 125 if the run cannot be read. Errors and damage go to stderr.
[[nodiscard]] int run(const cli::ReportOptions& options);

}  // namespace sp::report
