#pragma once

#include "cli/cli.h"

/// superprofiler annotate RUN FUNCTION: a function's instructions with how often each block of them
/// was executed.
namespace sp::annotate {

/// Prints the listing on stdout and returns the exit status: 0; 1 where the run, its counts, the
/// function or its code are not there; 2 where the name means several functions, which are then
/// listed. What is wrong is said on stderr.
[[nodiscard]] int run(const cli::AnnotateOptions& options);

}  // namespace sp::annotate
