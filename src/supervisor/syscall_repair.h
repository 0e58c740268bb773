#pragma once

#include <functional>

#include "core/result.h"
#include "supervisor/injection/transfer_rests.h"
#include "supervisor/linux/wait_status.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// Repairs what our stops do to the system calls of a thread: EINTR that nobody else has caused,
/// transfers that end early, the rest of a sleep that is told although the sleep goes on. Runs on
/// the ptrace thread.
class SyscallRepair {
 public:
  /// Interrupts a thread that may sleep in a system call, which it remembers.
  static core::Result<void> interrupt(Tracee& tracee);

  /// A thread has stopped; call it before anything else looks at its registers. True if the stop
  /// needs nothing else. `resume` lets the thread run.
  [[nodiscard]] bool on_stop(Tracee& tracee, const WaitStatus& status,
                             const std::function<void()>& resume);
  /// What this stop has cut short is, or is not, to be made whole before the thread runs.
  void set_completes(bool completes) { completes_ = completes; }
  /// The stopped thread's call is restarted if it failed because of us; `signal` is delivered.
  static void restart_call(Tracee& tracee, int signal);
  /// The stopped thread is about to run, delivering `signal` (0: none).
  void on_resume(Tracee& tracee, int signal);

  /// The thread is about to be detached, delivering `signal`.
  void forget(const Tracee& tracee, int signal);
  /// At the end, when all threads are detached that can be.
  void remove_code() const { rests_.remove_code(); }

 private:
  TransferRests rests_;
  bool completes_ = false;
};

}  // namespace sp::supervisor
