#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <random>

#include "core/clock.h"
#include "supervisor/sampling/cost_meter.h"
#include "supervisor/sampling/idle_pace.h"
#include "supervisor/sampling/thread_scan.h"
#include "supervisor/sampling/throttle.h"
#include "supervisor/sampling/tick_counts.h"

namespace sp::supervisor {

/// How long before a tick of the Ticker the timer scans the threads. Covers its own wake-up.
inline constexpr core::Duration kTickerLead = std::chrono::microseconds(100);

/// Decides when the next tick comes, from what stops cost and from what our own computing takes
/// from the target. Runs on the timer thread.
class TickPlan {
 public:
  /// `spaces_out`: while nobody runs, see IdlePace.
  TickPlan(core::Duration interval, double budget_percent, bool spaces_out, CostMeter& meter,
           TickCounts& counts);

  /// The first tick comes at `first`. What `server`, the ptrace thread, does is charged stop by
  /// stop; what the other threads do is charged here while the target could use every CPU.
  void begin(core::TimePoint first, pid_t server = 0);
  /// A tick at `now` saw these threads, on a machine where we may use `cpus` CPUs. `again`: it
  /// takes the place of the last one, with that one's weight.
  void account(core::TimePoint now, const ThreadScan::Seen& seen, int cpus, bool again = false);
  /// When the next tick comes, after one that was planned for `planned`. `by_ticker`: the ticker
  /// has to be armed ahead.
  [[nodiscard]] core::TimePoint next(core::TimePoint planned, core::TimePoint now,
                                     std::size_t busy_cpus, bool by_ticker);
  /// How many ticks the last one stands for, with those that were left out before it.
  [[nodiscard]] std::uint64_t weight() const { return weight_; }
  /// See Throttle.
  void shared_cpu(core::Duration round) { throttle_.shared_cpu(round); }

  /// Others (probes) take this share (0..1) of the target's time from the budget, as following it
  /// does; three quarters of it at most. Any thread.
  void others_use(double share) { others_share_ = share; }
  /// Any thread.
  void sample_was_dropped() { dropped_ = true; }

 private:
  /// The part of the target's time that others take.
  [[nodiscard]] double taken_by_others() const;
  [[nodiscard]] core::Duration gap(core::Duration mean, bool after_spaced);

  Throttle throttle_;
  double budget_;
  CostMeter& meter_;
  TickCounts& counts_;
  std::mt19937_64 random_;
  bool spaces_out_;
  IdlePace idle_;
  double stretch_ = 1;    // of the time from the last tick to the next
  double left_over_ = 0;  // of the weights, which are whole numbers
  std::uint64_t weight_ = 1;
  std::atomic<double> others_share_{0};
  std::atomic<bool> dropped_{false};
  core::TimePoint last_tick_;
  core::TimePoint window_start_;
  core::Duration own_cpu_at_window_{};
  pid_t server_ = 0;
  core::Duration in_stops_at_window_{};
  double own_share_ = 0;
  double running_ = 0;  // threads, smoothed
};

}  // namespace sp::supervisor
