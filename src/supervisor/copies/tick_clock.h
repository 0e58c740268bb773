#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "arch/native.h"
#include "core/clock.h"

namespace sp::supervisor {

/// The times of events that copies have written, from the ticks of the CPU's counter.
class TickClock {
 public:
  TickClock() { update(); }

  /// Before events are read: times are exact for those that were written a short time ago.
  void update() {
    const std::uint64_t before = arch::native_ticks();
    now_ = core::Clock::now();
    const std::uint64_t after = arch::native_ticks();
    ticks_ = before + (after - before) / 2;
    if (first_ticks_ == 0) {
      first_ticks_ = ticks_;
      first_ = now_;
    } else if (ticks_ > first_ticks_) {
      nanoseconds_ = std::chrono::duration<double, std::nano>(now_ - first_).count() /
                     static_cast<double>(ticks_ - first_ticks_);
    }
  }

  [[nodiscard]] core::TimePoint at(std::uint64_t ticks) const {
    const double ago = static_cast<double>(static_cast<std::int64_t>(ticks_ - ticks));
    return now_ - duration(std::max(0.0, ago));
  }
  [[nodiscard]] core::Duration duration(double ticks) const {
    return core::Duration{static_cast<std::int64_t>(ticks * nanoseconds_)};
  }

 private:
  std::uint64_t first_ticks_ = 0;
  core::TimePoint first_;
  std::uint64_t ticks_ = 0;
  core::TimePoint now_;
  double nanoseconds_ = 0;  // a tick
};

}  // namespace sp::supervisor
