#pragma once

#include <sys/types.h>

#include <string_view>

#include "supervisor/breakpoints/breakpoint_table.h"
#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {

/// What saves a process with breakpoints in it where superprofiler is killed: a page in its memory
/// with a handler for SIGTRAP, by which a thread that runs into a breakpoint goes back to it until
/// the guardian has taken it away. The target goes on seeing SIGTRAP's default action.
///
/// All of these need the thread in a stop for a signal or an interrupt.

/// Within what the page and the one behind it, which holds what calls answer, have: one byte that
/// no call needs.
inline constexpr std::uint64_t kTrapHandlerScratch = 8000;

/// Before the first breakpoint. Where the process handles SIGTRAP itself, has a seccomp filter
/// that we do not have, or a shadow stack, it is left alone.
void install_trap_handler(BreakpointTable& code, pid_t tid);
/// Why that did not succeed, after "process N ".
[[nodiscard]] std::string_view reason_for_no_breakpoints(const BreakpointTable& code);
/// Looks whether the handler is still in place, and puts it back where it is not. False where the
/// process has one of its own by now.
[[nodiscard]] bool renew_trap_handler(BreakpointTable& code, pid_t tid);
/// The target is about to get a SIGTRAP of its own, or to be let go. True where it has a handler of
/// its own by now, which stays.
bool give_up_trap_handler(BreakpointTable& code, pid_t tid);
/// Every breakpoint is gone: takes away the handler and the page.
void remove_trap_handler(BreakpointTable& code, pid_t tid);

}  // namespace sp::supervisor
