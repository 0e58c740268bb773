#pragma once

#include "cli/cli.h"
#include "commands/record/record.h"

namespace sp::top {

/// Shows where a process spends its time, again and again, until it ends or the user has seen
/// enough. Traces it on the calling thread, which must be the main thread. Reports errors to the
/// user.
[[nodiscard]] record::Ending run(const cli::TopOptions& options);

}  // namespace sp::top
