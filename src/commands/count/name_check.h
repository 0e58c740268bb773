#pragma once

#include <string>
#include <vector>

#include "cli/cli.h"
#include "commands/count/function_patterns.h"
#include "core/result.h"

namespace sp::count {

/// Before anything is attached to or launched: whether some function has a name that the user has
/// typed. Also says nothing where that cannot be known yet: a launched program may load any
/// library. Errors: no function has; names the nearest ones.
[[nodiscard]] core::Result<void> check_names(const cli::CountOptions& options,
                                             const FunctionPatterns& patterns);

/// The files that patterns may be for, as far as they are known before anything is attached to or
/// launched: those that a process has mapped, a program and the libraries that it names.
[[nodiscard]] std::vector<NamedFile> known_files(const cli::CountOptions& options);

/// The message of that, for functions with these names in the files that were looked at.
[[nodiscard]] std::string no_such_function(const std::vector<cli::CountPattern>& patterns,
                                           const std::vector<std::string>& names,
                                           const std::vector<std::string>& files);

}  // namespace sp::count
