#pragma once

#include <atomic>

namespace sp::supervisor {

/// Notices when too many samples fall on the way out of a system call: then stops arrive too late
/// and must be requested on the target's own CPU (see Ticker). Pure.
class SyscallBias {
 public:
  /// Of each sample: whether it fell on the way out of a system call. Runs on the ptrace thread.
  void add_sample(bool at_system_call);

  /// Whether stops are to be requested on the target's own CPU. Any thread.
  [[nodiscard]] bool is_high() const { return is_high_; }

 private:
  std::atomic<bool> is_high_{false};
  int samples_ = 0;  // these three belong to the ptrace thread
  int at_system_call_ = 0;
  bool has_fallen_ = false;
};

}  // namespace sp::supervisor
