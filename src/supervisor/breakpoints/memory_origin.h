#pragma once

#include <sys/types.h>

#include "supervisor/breakpoints/breakpoint_table.h"

namespace sp::supervisor {

/// The kernel says that they do not share their memory.
[[nodiscard]] bool has_own_memory(pid_t process, pid_t other);
/// Another process, which nobody may trace, has the memory of this one: its parent, if it was made
/// by vfork and has not called exec yet, or such a child of it.
[[nodiscard]] bool has_borrowed_memory(pid_t process);
/// The new process `child` shares the memory of `parent` (CLONE_VM, as after vfork); false where it
/// has a copy.
[[nodiscard]] bool shares_memory(const BreakpointTable& parent, pid_t child);
/// What the memory of a forked child is a copy of, told by the trap handler's page in it.
enum class MemoryOrigin {
  copy,            // the memory of `code`, with its breakpoints
  before_handler,  // memory without the page, and so without breakpoints
  other_process,   // another process's memory that we have breakpoints in
  unknown,         // `code` has no page
};
[[nodiscard]] MemoryOrigin memory_origin(const BreakpointTable& code, pid_t child);

}  // namespace sp::supervisor
