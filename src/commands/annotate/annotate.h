#pragma once

#include "cli/cli.h"

/// superprofiler annotate RUN FUNCTION: a function's instructions with the execution count of each
/// block.
namespace sp::annotate {

/// Prints the listing to stdout and returns the exit status: 0; 1 if the run, its counts, the
/// function or its code are missing; 2 if the name is ambiguous, after listing the functions.
/// Errors go to stderr.
[[nodiscard]] int run(const cli::AnnotateOptions& options);

}  // namespace sp::annotate
