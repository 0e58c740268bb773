#pragma once

#include <sys/types.h>

#include <optional>

#include "core/address.h"
#include "supervisor/breakpoints/breakpoint_table.h"
#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {

/// Where a SIGTRAP comes from.
enum class TrapOrigin {
  breakpoint,          // of ours, inserted now
  removed_breakpoint,  // of ours, removed after the thread ran into it
  handler_entry,       // a step that delivered a signal has reached its handler
  step,                // the end of a single step
  target,              // anything else: the target's own
  thread_gone,
};

/// What the kernel and the breakpoint table say about a trap.
struct TrapFacts {
  bool is_known_site = false;  // there is or was a breakpoint where the trap came from
  bool is_inserted = false;    // there is one now
  std::size_t length = 0;      // of the instruction under it, bytes
  std::optional<int> si_code;  // nothing: could not be read
};
/// Pure part of trap_origin(). Does not need `si_code` where `length` is longer than a breakpoint:
/// no other instruction begins behind the first byte of that one.
[[nodiscard]] TrapOrigin classify_trap(const TrapFacts& facts);

/// Classifies the SIGTRAP that a thread reports. `registers` are the thread's; `site` is set for
/// TrapOrigin::breakpoint. On TrapOrigin::removed_breakpoint the thread's pc was moved back to the
/// instruction, which it has not executed.
struct Trap {
  TrapOrigin origin = TrapOrigin::target;
  BreakpointSite* site = nullptr;
};
[[nodiscard]] Trap trap_origin(BreakpointTable& code, pid_t tid,
                               const ptrace::Registers& registers);

/// The thread is in the stop behind a step that has delivered a signal: a handler begins.
[[nodiscard]] bool is_at_handler(pid_t tid);

/// Writes pc and sp of a stop at a breakpoint into its siginfo (si_addr and the word behind it,
/// which the kernel leaves empty). If we die before the thread runs on, the injected SIGTRAP
/// handler reads them there: it must not go back to an instruction that we have executed for the
/// thread. The sp tells that of a push, which leaves pc where the breakpoint has left it.
void mark_trap(pid_t tid, const ptrace::Registers& registers);

/// The same once every breakpoint is removed. True where the trap was ours and is dealt with.
[[nodiscard]] bool retire_trap(BreakpointTable& code, pid_t tid);

/// An interrupt is reported before a trap that the thread has run into already: a breakpoint's, or
/// where `was_stepped` a step's. `pc` is the thread's.
[[nodiscard]] bool trap_is_pending(const BreakpointTable& code, pid_t tid, core::Address pc,
                                   bool was_stepped);

}  // namespace sp::supervisor
