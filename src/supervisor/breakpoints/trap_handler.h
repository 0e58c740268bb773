#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "supervisor/breakpoints/breakpoint_table.h"
#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {

/// The injected SIGTRAP handler, which saves a process with breakpoints if superprofiler is killed:
/// it sends a thread that runs into a breakpoint back to it until the guardian has removed the
/// breakpoint, and where nobody does removes all breakpoints itself (arch/*/rescue_code.h). It lies
/// in a page of ours in the target, with a second page for the results of system calls that the
/// target makes for us, and the target's own journal.
///
/// All functions need the thread in a signal-delivery or interrupt stop.

/// The offset of a byte in those two pages that nothing else uses.
inline constexpr std::uint64_t kTrapHandlerScratch = 8000;

/// Asks for and, with `action`, sets the action of a signal, by a call of the target's. Returns the
/// one from before; nothing where there is no page of ours, or the call fails. `trap_is_served`:
/// see remote_syscall().
[[nodiscard]] std::optional<SignalAction> call_sigaction(BreakpointTable& code, pid_t tid,
                                                         std::uint64_t signal,
                                                         const std::optional<SignalAction>& action,
                                                         bool trap_is_served = false);
/// A system call in a signal-delivery stop ends with a forced SIGTRAP: the kernel resets SIG_IGN
/// for it, and where we are killed meanwhile, the thread does not get its registers back. True
/// where the thread is in such a stop: it was interrupted, and its next stop will do.
[[nodiscard]] bool postpone_calls(pid_t tid);
/// Installs the handler; call it before the first breakpoint. Does nothing to a process that
/// handles SIGTRAP itself, has a seccomp filter that we do not have, or has a shadow stack.
void install_trap_handler(BreakpointTable& code, pid_t tid);
/// Why the handler could not be installed; follows "process N ".
[[nodiscard]] std::string_view reason_for_no_breakpoints(const BreakpointTable& code);
/// The program sets SIGTRAP's action to SIG_IGN or SIG_DFL. The kernel keeps ours: it would give a
/// thread that hits a breakpoint with SIGTRAP ignored the default action.
void set_program_action(BreakpointTable& code, const SignalAction& action);
/// Installs the handler again if it is no longer in place. False if the process has a handler of
/// its own now.
[[nodiscard]] bool renew_trap_handler(BreakpointTable& code, pid_t tid);
/// Resets SIGTRAP to what the program has set, SIG_DFL or SIG_IGN, because a SIGTRAP of the
/// target's own is about to be delivered, or because the target is being detached. True if the
/// target has a handler of its own now, which stays.
bool reset_trap_action(BreakpointTable& code, pid_t tid, bool trap_is_served = false);
/// Removes the handler and our pages. No breakpoint may be left.
void remove_trap_handler(BreakpointTable& code, pid_t tid);

}  // namespace sp::supervisor
