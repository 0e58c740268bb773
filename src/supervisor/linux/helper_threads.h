#pragma once

#include <sched.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

namespace sp::supervisor {

/// Threads of this process that compute for long and begin at any time. They may run where
/// CpuAffinity says: a thread inherits the CPUs of the one that starts it, and that is the ptrace
/// thread, which may be held on the target's CPU. Any thread.
class HelperThreads {
 public:
  /// The calling thread is one of them as long as this exists.
  class Membership {
   public:
    explicit Membership(HelperThreads& threads);
    ~Membership();
    Membership(const Membership&) = delete;
    Membership& operator=(const Membership&) = delete;

   private:
    HelperThreads& threads_;
  };

  [[nodiscard]] static HelperThreads& of_process();

  /// Where they may run from now on.
  void keep_on(const cpu_set_t& cpus);
  [[nodiscard]] bool any() const { return count_ > 0; }

 private:
  std::mutex mutex_;
  std::vector<pid_t> tids_;        // under mutex_
  std::optional<cpu_set_t> cpus_;  // likewise
  std::atomic<std::size_t> count_{0};
};

}  // namespace sp::supervisor
