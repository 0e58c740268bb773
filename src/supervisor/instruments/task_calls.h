#pragma once

#include <sys/types.h>

#include <optional>

#include "supervisor/instruments/sigtrap_mask.h"

namespace sp::supervisor {

/// A clone or clone3 that a thread is about to make.
struct TaskCall {
  /// The first argument to make it with: clone's flags without CLONE_UNTRACED.
  std::uint64_t first_argument = 0;
  bool clears_handlers = false;  // CLONE_CLEAR_SIGHAND: our SIGTRAP handler is gone in the child
};

/// Makes sure that the child is traced: it has our breakpoints, in its copy of the memory or in the
/// parent's own. Takes CLONE_UNTRACED out of clone3's arguments in memory. Nothing where it is
/// another call.
[[nodiscard]] std::optional<TaskCall> make_child_traced(pid_t tid, const SyscallRequest& call);

}  // namespace sp::supervisor
