#pragma once

#include <sys/types.h>

#include <cstdint>

namespace sp::supervisor {

/// SIGSTOP, the one signal that neither can be blocked nor kills, arrived while a thread made a
/// system call for us. One of ours is suppressed and sent again afterwards. One of others is
/// delivered at once, or a SIGCONT that follows it would be undone; the thread goes on through the
/// group-stop and takes part in it afterwards. Lives as long as such a call; only the ptrace thread
/// makes them.
class DeferredStop {
 public:
  DeferredStop();
  ~DeferredStop();
  DeferredStop(const DeferredStop&) = delete;
  DeferredStop& operator=(const DeferredStop&) = delete;

  /// The signal with which the thread is to be resumed: SIGSTOP once, where the stop was of others.
  [[nodiscard]] int take_signal();
  /// The call is over. Sends ours again: the sender in its siginfo says again that it is. After one
  /// of others the thread reports next whether the group-stop is still in effect.
  void end(pid_t tid) const;

  bool ours = false;
  bool of_others = false;
  bool is_to_be_delivered = false;  // the thread is in the signal-delivery stop of one of others
};

/// Tells any thread whether a SIGSTOP may have been deferred since the watch began: such a one is
/// not pending, and comes all the same.
class DeferralWatch {
 public:
  DeferralWatch();
  [[nodiscard]] bool saw_none() const;

 private:
  std::uint64_t ended_before_;
};

}  // namespace sp::supervisor
