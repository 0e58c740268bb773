#pragma once

#include <sys/types.h>

#include "supervisor/linux/deferred_stop.h"
#include "supervisor/linux/ptrace.h"

// Resumes a thread that makes a system call for us, until its next stop of a certain kind. A thread
// that stops on its way out (PTRACE_EVENT_EXIT) is gone for these and stays in that stop.
namespace sp::supervisor {

enum class StopReason {
  step,
  call_entry,
  call_exit,
  interrupt,
  something_else,
  held,  // a freezer keeps it from executing anything
  end
};

/// Resumes the thread until a system call's entry or exit. False if the thread is gone, or a
/// freezer holds it: then it is in a stop, and has not made the call.
[[nodiscard]] bool run_to_call(pid_t tid, StopReason side, DeferredStop& deferred);

/// Takes the thread from a system call's exit to a stop after which the kernel checks again whether
/// an interrupted call is to be restarted. No instruction is executed. False if the thread is gone.
bool run_to_interrupt(pid_t tid, DeferredStop& deferred);

/// Steps over the system-call instruction at which `at_call` puts the thread. False if the thread
/// is gone or held.
[[nodiscard]] bool step_over_call(pid_t tid, const ptrace::Registers& at_call,
                                  DeferredStop& deferred);

/// 0 if the thread's stop ends without delivering a signal, so that another stop can take its
/// place: a stop of PTRACE_INTERRUPT, or of a SIGSTOP of ours. SIGTRAP if the stop is none of the
/// target's.
[[nodiscard]] int signal_to_be_delivered(pid_t tid);

/// Some kernels decide only after the stop that interrupted a call whether it is restarted as
/// restart_syscall, which waits for the rest of the time. Lets the thread enter that call and
/// interrupts it again: then its registers tell. Any other call is not made yet. False if the
/// thread is gone.
[[nodiscard]] bool resolve_restart(pid_t tid, DeferredStop& deferred);

/// Whether the thread's next instruction is a system call.
[[nodiscard]] bool stands_before_call(pid_t tid, const ptrace::Registers& registers);

}  // namespace sp::supervisor
