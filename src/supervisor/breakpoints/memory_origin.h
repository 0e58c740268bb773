#pragma once

#include <sys/types.h>

#include "supervisor/breakpoints/breakpoint_table.h"

namespace sp::supervisor {

/// The new process `child` runs in the memory of `parent`, as after vfork, and not in a copy of it.
[[nodiscard]] bool shares_memory(const BreakpointTable& parent, pid_t child);
/// What the memory of a forked child, which it does not share, was copied from, told by our page.
enum class MemoryOrigin {
  copy,            // the memory that the code is about, with its breakpoints
  before_handler,  // memory without the page, and so without any breakpoint
  other_process,   // another process's that we have breakpoints in
  unknown,         // the code has no page
};
[[nodiscard]] MemoryOrigin memory_origin(const BreakpointTable& code, pid_t child);

}  // namespace sp::supervisor
