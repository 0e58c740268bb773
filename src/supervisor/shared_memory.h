#pragma once

#include <sys/types.h>

#include "supervisor/planted_code.h"

namespace sp::supervisor {

/// The new process `child` runs in the memory of `parent`, as after vfork, and not in a copy of it.
[[nodiscard]] bool shares_memory(const PlantedCode& parent, pid_t child);
/// The new process `child` has a copy of the memory that `code` is about.
[[nodiscard]] bool is_copy(const PlantedCode& code, pid_t child);

}  // namespace sp::supervisor
