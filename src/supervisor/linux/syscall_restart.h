#pragma once

#include <sys/types.h>

#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {

/// Some blocking system calls return EINTR to a program although no handler of it has run, just
/// because it was traced: our own stop woke the thread, or a signal that the program ignores, and
/// that the kernel therefore would have thrown away at birth, is shown to the tracer first.
/// signal(7) lists them (epoll_wait, semop, sigtimedwait, recv with a timeout, ...).
///
/// To be called at a stop from which the thread will go on without a handler because of
/// `signal` (0: nothing is delivered). Where its system call is about to fail with EINTR for no
/// reason that it would have had without us, changes `registers`, and the thread's own, so that
/// the call is made again. True where it did; never where Native::kInterruptedCallIsGuessed.
bool undo_interruption(pid_t tid, ptrace::Registers& registers, int signal);

}  // namespace sp::supervisor
