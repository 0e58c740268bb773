#pragma once

#include <sys/types.h>

#include <cstdint>

namespace sp::supervisor {

/// SIGSTOP, the one signal that neither can be blocked nor kills, arrived while a thread made a
/// system call for us. It is suppressed and sent again afterwards. Lives as long as such a call;
/// only the ptrace thread makes them.
class DeferredStop {
 public:
  DeferredStop();
  ~DeferredStop();
  DeferredStop(const DeferredStop&) = delete;
  DeferredStop& operator=(const DeferredStop&) = delete;

  /// The sender in its siginfo says again whether it is ours.
  void send_again(pid_t tid) const;

  bool ours = false;
  bool of_others = false;
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
