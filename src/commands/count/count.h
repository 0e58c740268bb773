#pragma once

#include "cli/cli.h"
#include "commands/record/record.h"

namespace sp::count {

/// Counts calls of functions of a process until it ends or the user has seen enough. Traces it on
/// the calling thread, which must be the main thread. Reports errors to the user.
[[nodiscard]] record::Ending run(const cli::CountOptions& options);

}  // namespace sp::count
