#pragma once

#include "cli/cli.h"

namespace sp::dump {

/// Prints the stacks of all threads of a process to stdout. Traces it on the calling thread, which
/// must be the main thread. Returns the exit status, 0 or 125; reports errors to the user.
[[nodiscard]] int run(const cli::DumpOptions& options);

}  // namespace sp::dump
