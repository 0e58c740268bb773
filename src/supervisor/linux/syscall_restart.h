#pragma once

#include <sys/types.h>

#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {

/// Some blocking system calls return EINTR to a program although no handler of it has run, just
/// because it is traced: a stop of ours woke the thread, or a signal that the program ignores,
/// which the kernel would have discarded otherwise, was reported to the tracer first. signal(7)
/// lists these calls (epoll_wait, semop, sigtimedwait, recv with a timeout, ...).
///
/// Call it at a stop after which the thread will continue without running a handler for `signal`
/// (0: nothing is delivered). If the thread's system call is about to fail with EINTR, and would
/// not have without us, changes `registers`, and the thread's, so that the call is restarted. True
/// if it did; never if Native::kInterruptedCallIsGuessed.
bool restart_interrupted_call(pid_t tid, ptrace::Registers& registers, int signal);

}  // namespace sp::supervisor
