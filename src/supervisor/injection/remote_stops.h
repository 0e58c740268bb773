#pragma once

#include <sys/types.h>

#include "supervisor/linux/ptrace.h"

// Runs of a thread that makes a call for us, from stop to stop.
namespace sp::supervisor {

enum class StopReason { step, call_entry, call_exit, interrupt, something_else, end };

/// SIGSTOP, the one signal that cannot be blocked and does not kill, came while a call was made.
struct DeferredStop {
  bool ours = false;
  bool of_others = false;

  /// It is to come once more. By what it says of its sender it is known for ours or not.
  void send_again(pid_t tid) const;
};

/// Runs to a call's entry or its exit. False where the thread is gone.
[[nodiscard]] bool run_to_call(pid_t tid, StopReason side, DeferredStop& deferred);

/// From a call's exit on to a stop in which the kernel will look again whether an interrupted call
/// is to be made once more. No instruction is executed. False where the thread is gone.
bool run_to_interrupt(pid_t tid, DeferredStop& deferred);

/// Runs until the step over the call's instruction is over. False where the thread is gone.
[[nodiscard]] bool step_over_call(pid_t tid, const ptrace::Registers& at_call,
                                  DeferredStop& deferred);

/// 0 where the stop comes to its end without one, so that another stop can take its place: a
/// PTRACE_INTERRUPT's, or a SIGSTOP's of ours. SIGTRAP for what is none of the target's.
[[nodiscard]] int signal_to_be_delivered(pid_t tid);

/// Whether an interrupted call is made once more as restart_syscall, which goes on with what is
/// left of a wait, some kernels decide behind the stop that interrupted it. Has the thread begin
/// that call, and interrupts it again: then its registers say so. Any other call it does not make
/// yet. False where the thread is gone.
[[nodiscard]] bool resolve_restart(pid_t tid, DeferredStop& deferred);

/// It is at the instruction of a call.
[[nodiscard]] bool stands_before_call(pid_t tid, const ptrace::Registers& registers);

}  // namespace sp::supervisor
