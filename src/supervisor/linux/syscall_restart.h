#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>

#include "core/address.h"
#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {

/// The system call that the next stop of a thread may interrupt. Where
/// Native::kInterruptedCallIsGuessed, a stop shows neither the call's first argument, which the
/// result has overwritten, nor whether a handler had ended the call before. So the call has to be
/// known in advance. Elsewhere nothing is remembered.
class InterruptedCall {
 public:
  /// The thread is about to be interrupted, perhaps again before the stop: remembers the call that
  /// it sleeps in.
  void look(pid_t tid);
  /// The thread is in a stop at a call's entry or exit.
  void note_call(pid_t tid);
  /// The thread is in any other stop. `may_return_eintr`: in a signal-delivery or interrupt stop.
  void note_stop(pid_t tid, bool may_return_eintr);

 private:
  friend bool restart_interrupted_call(pid_t tid, ptrace::Registers& registers, int signal,
                                       InterruptedCall& call);
  struct Known {
    ptrace::SyscallStop entry;
    core::Address sp;
    core::Address behind;  // the call's instruction
    /// How often the thread had gone to sleep when it was seen asleep. Once more is the stop.
    std::optional<std::uint64_t> sleeps;
  };
  /// The thread is in the stop that has interrupted that call.
  [[nodiscard]] static bool is_interrupted(pid_t tid, const Known& known,
                                           const ptrace::Registers& registers);

  std::optional<Known> known_;
  std::optional<std::uint64_t> first_argument_;  // of the call that this stop has interrupted
  std::optional<ptrace::Registers> made_again_;  // the thread's when its call was restarted
};

/// Some blocking system calls return EINTR to a program although no handler of it has run, just
/// because it is traced: a stop of ours woke the thread, or a signal that the program ignores,
/// which the kernel would have discarded otherwise, was reported to the tracer first. signal(7)
/// lists these calls (epoll_wait, semop, sigtimedwait, recv with a timeout, ...).
///
/// Call it at a stop after which the thread will continue without running a handler for `signal`
/// (0: nothing is delivered). If the thread's system call is about to fail with EINTR, and would
/// not have without us, changes `registers`, and the thread's, so that the call is restarted. True
/// if it did. Where Native::kInterruptedCallIsGuessed, `call` must know the call; and if `signal`
/// runs a handler before the thread has begun a call that was restarted, that call returns EINTR.
bool restart_interrupted_call(pid_t tid, ptrace::Registers& registers, int signal,
                              InterruptedCall& call);

}  // namespace sp::supervisor
