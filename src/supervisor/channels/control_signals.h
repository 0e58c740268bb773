#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <span>

#include "core/clock.h"

namespace sp::supervisor {

/// Rings for the ptrace thread, which sleeps in wait(2). A ring that comes between its last look
/// and the wait is lost, so whoever rings goes on until taken() was called: the timer thread does
/// so in every round. Nobody waits longer than one round for it.
class WakeupSignal {
 public:
  /// To be called on the thread that is to be woken. Installs an empty handler for the signal.
  void target_this_thread();

  /// Any thread.
  void send();
  /// Rings again where the last ring was not taken yet.
  void resend();
  /// The owner: true where somebody rang since the last call.
  [[nodiscard]] bool taken() { return rung_.exchange(false); }

 private:
  std::atomic<bool> rung_{false};
  pid_t tid_ = 0;
};

/// What the user or a deadline asked of the run; written by the timer thread, which takes all
/// signals of ours, and read by the ptrace thread.
struct UserRequests {
  std::atomic<int> interrupts{0};       // SIGINT and SIGQUIT so far
  std::atomic<bool> terminate{false};   // SIGTERM, SIGHUP
  std::atomic<bool> time_is_up{false};  // --duration
  std::atomic<int> snapshots{0};        // SIGUSR1, not yet served
  std::atomic<bool> suspend{false};     // SIGTSTP, SIGTTIN, SIGTTOU: job control wants us stopped
  std::atomic<bool> heartbeat{false};   // the ptrace thread waits for a deadline: ring every round
  std::atomic<bool> requests{false};    // the analyzer has put something in its channel
  std::atomic<bool> interrupts_wanted{false};  // slots that are to be stopped by PTRACE_INTERRUPT
};

/// The signals that are ours to act on, blocked in every thread and taken by the timer thread.
/// Blocks them for the calling thread and all that it starts later.
void block_control_signals();

/// Which these are. SIGHUP is left out where we were started with it ignored (nohup).
[[nodiscard]] std::span<const int> control_signals();

/// Takes one of them, or none until `deadline`, and makes it a wish. The timer thread.
void take_signals_until(core::TimePoint deadline, UserRequests& user_requests,
                        WakeupSignal& wakeup);

/// Puts back for a child what block_control_signals() and our start changed: the signal mask and
/// the dispositions that we were started with. Only async-signal-safe calls.
void restore_signals_for_child();

}  // namespace sp::supervisor
