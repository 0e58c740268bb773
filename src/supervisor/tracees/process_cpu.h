#pragma once

#include <sys/types.h>

#include <atomic>
#include <ctime>

#include "core/clock.h"

namespace sp::supervisor {

/// Reads how long a process was on CPUs, all its threads together. Any thread.
class ProcessCpu {
 public:
  /// From now on.
  explicit ProcessCpu(pid_t pid) : clock_(clock_of(pid)), taken_(read().count()) {}

  /// What was added since the last call; 0 once the process is gone.
  [[nodiscard]] core::Duration take() {
    const std::int64_t now = read().count();
    std::int64_t before = taken_;
    while (before < now && !taken_.compare_exchange_weak(before, now)) {
    }
    return core::Duration{before < now ? now - before : 0};
  }

 private:
  /// clock_getcpuclockid(), which looks at the process.
  static clockid_t clock_of(pid_t pid) {
    constexpr unsigned kCpuClock = 2;
    return static_cast<clockid_t>(~static_cast<unsigned>(pid) << 3U | kCpuClock);
  }
  [[nodiscard]] core::Duration read() const {
    timespec time{};
    return ::clock_gettime(clock_, &time) == 0
               ? std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec)
               : core::Duration{};
  }

  clockid_t clock_;
  std::atomic<std::int64_t> taken_;
};

}  // namespace sp::supervisor
