#pragma once

#include <sys/types.h>

#include "supervisor/instruments/instrumented_code.h"
#include "supervisor/instruments/sigtrap_mask.h"

namespace sp::supervisor {

/// What became of a system call that a thread is about to make.
enum class SigactionCall {
  other,     // it is not about SIGTRAP: the kernel has to do it
  emulated,  // it returns 0
  handler,   // it gives SIGTRAP a handler of the program's: the kernel has to do it
};

/// Does rt_sigaction(SIGTRAP, ..) instead of the kernel where the program sets SIG_IGN or SIG_DFL
/// or only asks: in the kernel our handler stands as long as there are breakpoints, and the program
/// sees what it has set itself.
[[nodiscard]] SigactionCall emulate_sigaction(TracedProcess& process, pid_t tid,
                                              const SyscallRequest& call);

/// A SIGTRAP that somebody has sent is about to be delivered. False where the program ignores it,
/// or blocks it (`mask`): then it is sent again when the program unblocks it.
[[nodiscard]] bool may_deliver_sent_trap(const TracedProcess& process, SigtrapMask& mask,
                                         pid_t tid);

}  // namespace sp::supervisor
