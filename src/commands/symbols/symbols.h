#pragma once

#include "cli/cli.h"

namespace sp::symbols_command {

/// Prints or writes the functions of a file and which of them --trace would trace, or compares it
/// with a debug file. Starts nothing. Returns the exit status: 1 if the debug file is of another
/// build, 2 if a file of rules is wrong, 125 if a file cannot be read or written.
[[nodiscard]] int run(const cli::SymbolsOptions& options);

}  // namespace sp::symbols_command
