#pragma once

#include "cli/cli.h"
#include "core/result.h"
#include "symbols/function_filters.h"

namespace sp::record {

/// Looks for the functions of --trigger, --via and --xray-id in the program, before anything is
/// done to it. Where that cannot be read, is a script, or libraries are traced too, the run has to
/// show. Error: a trigger names no function that would be traced, with the nearest names; the
/// program has no such place or id, and which it has.
[[nodiscard]] core::Result<void> check_functions(const cli::RecordOptions& options,
                                                 const symbols::FunctionFilters& filters);

}  // namespace sp::record
