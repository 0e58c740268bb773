#pragma once

#include <atomic>

namespace sp::supervisor {

/// What the ptrace thread is asked to do: by the user's signals, by a deadline, and by other
/// threads that have put something into a channel. Other threads write and then send the
/// WakeupSignal; the ptrace thread reads.
struct UserRequests {
  std::atomic<int> interrupts{0};       // SIGINT and SIGQUIT so far
  std::atomic<bool> terminate{false};   // SIGTERM, SIGHUP
  std::atomic<bool> time_is_up{false};  // --duration
  std::atomic<int> snapshots{0};        // SIGUSR1, not yet served
  std::atomic<bool> suspend{false};     // SIGTSTP, SIGTTIN, SIGTTOU: job control stops us
  std::atomic<bool> heartbeat{false};  // the ptrace thread waits for a deadline: wake it each round
  std::atomic<bool> rounds{false};     // the same, as long as the run lasts
  std::atomic<bool> soon{false};       // the next one of them in a millisecond
  std::atomic<bool> holds_crashed{false};      // the same, for a process that has crashed
  std::atomic<bool> requests{false};           // the analyzer's channel holds requests
  std::atomic<bool> interrupts_wanted{false};  // threads are to be stopped by PTRACE_INTERRUPT
};

}  // namespace sp::supervisor
