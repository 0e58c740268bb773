#pragma once

#include "supervisor/instruments/instrumented_code.h"
#include "supervisor/instruments/sigtrap_mask.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// How a stopped thread stands before it is detached.
struct DetachStop {
  bool was_stepped = false;  // the end of a single step may be pending
  bool may_call = false;  // it is in a signal-delivery or interrupt stop: it can make system calls
};

/// What is left to do for a thread that is to be detached, once its displaced step is cancelled and
/// its process's breakpoints are removed: gives its signal mask back and, where nobody needs it any
/// more, removes our memory from the process. False where one of our traps is pending: let the
/// thread run, it comes back.
[[nodiscard]] bool prepare_to_detach(InstrumentedCode& code, const Tracee& tracee,
                                     SigtrapMask& mask, DetachStop stop);

/// The thread is in a group-stop, in which it may be left to itself: SigtrapMask::show(). False
/// with a trap that is pending: blocked, it would not come, and the thread go on behind the
/// breakpoint.
[[nodiscard]] bool show_mask(const InstrumentedCode& code, pid_t tid, bool was_stepped,
                             SigtrapMask& mask);

/// Removes everything of ours from a forked child that nobody follows. The child is in its first
/// stop, and its code is its own.
void remove_from_child(InstrumentedCode& code, pid_t tid);

/// Memory of ours is in the process.
[[nodiscard]] bool has_memory_of_ours(const TracedProcess& process);

}  // namespace sp::supervisor
