#pragma once

#include <sys/types.h>

#include <atomic>

namespace sp::supervisor {

/// Wakes the ptrace thread, which sleeps in wait(2), with a real-time signal. A signal that arrives
/// between the thread's last check and its wait is lost, so the timer thread calls resend() in
/// every round until taken() was called: a request waits no longer than one round.
class WakeupSignal {
 public:
  /// Makes the calling thread the one that is woken, and installs an empty handler.
  void target_this_thread();

  /// Ends a wait of another thread of ours.
  static void interrupt(pid_t tid);

  /// Any thread.
  void send();
  /// Sends again if the last signal was not taken yet.
  void resend();
  /// The woken thread: whether anybody has sent since the last call.
  [[nodiscard]] bool taken() { return sent_.exchange(false); }

 private:
  std::atomic<bool> sent_{false};
  pid_t tid_ = 0;
};

}  // namespace sp::supervisor
