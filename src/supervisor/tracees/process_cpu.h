#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <ctime>

#include "core/clock.h"

namespace sp::supervisor {

/// Reads how long a process was on CPUs, all its threads together. Any thread.
class ProcessCpu {
 public:
  /// From now on; with the time of its children that it has waited for, if so (to 10 ms, as the
  /// kernel tells it).
  explicit ProcessCpu(pid_t pid, bool with_children = false)
      : clock_(clock_of(pid)),
        children_of_(with_children ? pid : 0),
        children_taken_(children()),
        taken_(read().count()) {}

  /// What was added since the last call; 0 once the process is gone.
  [[nodiscard]] core::Duration take() {
    return added(taken_, read().count()) + added(children_taken_, children());
  }

 private:
  static core::Duration added(std::atomic<std::int64_t>& taken, std::int64_t now) {
    std::int64_t before = taken;
    while (before < now && !taken.compare_exchange_weak(before, now)) {
    }
    return core::Duration{before < now ? now - before : 0};
  }
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
  [[nodiscard]] std::int64_t children() const;

  clockid_t clock_;
  pid_t children_of_;  // 0: nobody's
  std::atomic<std::int64_t> children_taken_;
  std::atomic<std::int64_t> taken_;
};

}  // namespace sp::supervisor
