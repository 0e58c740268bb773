#pragma once

#include "core/clock.h"

namespace sp::supervisor {

/// Keeps the cost of sampling within the budget by stretching the sampling interval. Pure: the
/// caller reports what happened. Runs on the timer thread.
class Throttle {
 public:
  /// `budget_percent` of the target's on-CPU time; 0 = no limit.
  Throttle(core::Duration requested, double budget_percent);

  /// The interval to use now. A running thread is stopped once in each interval, for `per_stop`; so
  /// the cost is per_stop / interval. `extra_share` is the part of the target's time (0..1) that
  /// our own computing already took on CPUs that the target could have used. With and without a
  /// budget, the timer takes at most a quarter of a CPU that it shares.
  [[nodiscard]] core::Duration interval(core::Duration per_stop, double extra_share) const;

  /// On a machine with one CPU, a round of the timer (waking up, scanning threads) took that much
  /// of it. If the timer took most of the CPU, it would run only while the target does not, and
  /// sample nothing.
  void shared_cpu(core::Duration round);

  /// A reader fell behind: samples less often from now on, and recovers slowly.
  void samples_were_dropped();
  void window_was_clean();

 private:
  core::Duration requested_;
  double budget_;
  double stretch_ = 1.0;
  double round_ = 0;  // nanoseconds
};

}  // namespace sp::supervisor
