#pragma once

#include "cli/cli.h"

/// superprofiler xray BIN, or -p PID: the sleds that clang's -fxray-instrument left, and their
/// state.
namespace sp::xray {

/// Prints the list to stdout. A process is read, through /proc/PID/mem, and not stopped. Returns
/// the exit status: 0; 1 if there is no XRay map, with a line that says what else there is; 125 if
/// the file or the process cannot be read. Errors and notes go to stderr.
[[nodiscard]] int run(const cli::XrayOptions& options);

}  // namespace sp::xray
