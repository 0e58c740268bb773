#pragma once

#include <sys/types.h>

#include "supervisor/breakpoints/breakpoint_table.h"

namespace sp::supervisor {

/// The new process `child` runs in the memory of `parent`, as after vfork, and not in a copy of it.
[[nodiscard]] bool shares_memory(const PlantedCode& parent, pid_t child);
/// What the memory of a forked child, which it does not share, was copied from, told by our page.
enum class Descent {
  copy,         // the memory that the code is about, with its breakpoints
  from_before,  // memory without the page, and so without any breakpoint
  of_another,   // another process's that we have breakpoints in
  unknown,      // the code has no page
};
[[nodiscard]] Descent descent(const PlantedCode& code, pid_t child);

}  // namespace sp::supervisor
