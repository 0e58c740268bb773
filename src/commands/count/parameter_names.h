#pragma once

#include <vector>

#include "cli/cli.h"
#include "commands/count/function_patterns.h"
#include "core/result.h"

namespace sp::count {

/// Puts the arguments that DWARF tells of in place of the parameters that the user has named (and
/// of --args all), in `options`. All functions that patterns name in `files` must agree. Errors are
/// of usage: no such parameter (with the nearest ones), no DWARF, functions that differ.
[[nodiscard]] core::Result<void> find_named_parameters(cli::CountOptions& options,
                                                       const FunctionPatterns& patterns,
                                                       const std::vector<NamedFile>& files);

}  // namespace sp::count
