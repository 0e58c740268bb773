#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "supervisor/instruments/instrumented_code.h"
#include "supervisor/instruments/sigtrap_mask.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// A handler whose mask (sa_mask) holds SIGTRAP would run with it blocked, and its first breakpoint
/// kill the program if superprofiler is killed before it has unblocked it. So the kernel gets such
/// masks without SIGTRAP, and the program sees its own when it asks. A step after the delivery
/// keeps what the thread's mask is for the program (SigtrapMask::enter_handler()).
///
/// All functions make system calls in the target (remote_syscall()).

/// The calls of rt_sigaction that are made here and not by the kernel.
enum class MadeHere {
  where_needed,  // masks or what the call answers are others in the kernel
  all,
};
/// Does rt_sigaction, and notes in any case what the program sets. The thread stands before the
/// call, in the stop of a breakpoint, and goes on with `registers`. Returns the call's result;
/// nothing where the kernel has to do it.
[[nodiscard]] std::optional<std::int64_t> make_sigaction(InstrumentedCode& code,
                                                         const Tracee& tracee,
                                                         const SyscallRequest& call,
                                                         const ptrace::Registers& registers,
                                                         MadeHere which);
/// rt_sigaction of a signal but SIGTRAP, with a mask of the kernel's size.
[[nodiscard]] bool is_other_sigaction(const SyscallRequest& call);
/// Takes SIGTRAP out of the masks of the handlers that the process has. From now on its calls of
/// rt_sigaction are seen.
void unblock_in_handlers(InstrumentedCode& code, pid_t tid);
/// Gives the kernel the program's masks: its calls are not seen any more. Does nothing in a child
/// that shares the memory.
void give_back_handler_masks(InstrumentedCode& code, pid_t tid, bool trap_is_served = false);

}  // namespace sp::supervisor
