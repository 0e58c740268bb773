#pragma once

#include "profiler/named_profile.h"
#include "profiler/recorded_run.h"

namespace sp::profiler {

/// By its module.
[[nodiscard]] FunctionKind kind_in_run(const RecordedFunction& function, const RecordedRun& run);

/// The tree of a finished run's stacks. A run has 4.2 million distinct call paths at most, and so
/// has the tree. Reads the stacks once.
[[nodiscard]] NamedProfile named_profile(const RecordedRun& run, StackSource& stacks);

}  // namespace sp::profiler
