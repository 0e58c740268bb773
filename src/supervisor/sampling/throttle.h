#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/clock.h"

namespace sp::supervisor {

/// Adds up what stops cost the target. Written by the ptrace thread, read by any.
class CostMeter {
 public:
  /// One stop: `latency` from asking for it to hearing of it, `handling` from there until the
  /// thread was told to run. On a busy machine latency is mostly time in which the thread waited
  /// for a CPU that others had, so it is charged at most at twice what the quickest of the last
  /// stops took. A quarter of it is added for the way back (bench/README.md compares the charge
  /// with the slowdown that a target really shows).
  void add(core::Duration latency, core::Duration handling);

  /// One stop of a thread that slept, which only woke it: it says nothing about the others.
  void add_woken(core::Duration handling) { charge(handling.count()); }

  /// One hit of a probe.
  void add_hit(core::Duration cost) { charge(cost.count()); }
  /// More that was done while a thread was stopped.
  void add_work(core::Duration cost) {
    stopped_.fetch_add(cost.count(), std::memory_order_relaxed);
  }

  [[nodiscard]] std::uint64_t stops() const { return stops_; }
  [[nodiscard]] core::Duration stopped() const { return core::Duration{stopped_}; }
  [[nodiscard]] core::Duration longest() const { return core::Duration{longest_}; }
  /// What one stop costs at the moment: the median of the last ones.
  [[nodiscard]] core::Duration per_stop() const { return core::Duration{per_stop_}; }

 private:
  static constexpr std::size_t kRecent = 32;

  void remember(std::int64_t latency, std::int64_t handling);
  void charge(std::int64_t cost);

  std::array<std::int64_t, kRecent> latencies_{};
  std::array<std::int64_t, kRecent> handlings_{};
  std::size_t filled_ = 0;
  std::size_t next_ = 0;
  std::int64_t latency_ceiling_ = 0;
  std::atomic<std::uint64_t> stops_{0};
  std::atomic<std::int64_t> stopped_{0};
  std::atomic<std::int64_t> longest_{0};
  std::atomic<std::int64_t> per_stop_{0};
};

/// Holds what we cost against the budget by stretching the sampling interval. Pure: the caller
/// tells it what happened. Runs on the timer thread.
class Governor {
 public:
  /// `budget_percent` of the target's on-CPU time; 0 = no limit.
  Governor(core::Duration requested, double budget_percent);

  /// The interval to use now. A thread that runs is stopped once in it, for `per_stop`; so the
  /// cost is per_stop / interval. `extra_share` is the part of the budget already used up by our
  /// own computing on CPUs that the target could have used (0..1 of the target's time). With and
  /// without a budget the timer takes a quarter of a CPU that it shares at the most.
  [[nodiscard]] core::Duration interval(core::Duration per_stop, double extra_share) const;

  /// On the only CPU that there is a round of the timer took that much of it, waking up and looking
  /// at the threads. Were it most of what there is, the timer would have its turns only while the
  /// target has none, and see nothing.
  void shared_cpu(core::Duration round);

  /// A reader fell behind: sample less often from now on. Recovers slowly by itself.
  void samples_were_dropped();
  void window_was_clean();

 private:
  core::Duration requested_;
  double budget_;
  double stretch_ = 1.0;
  double round_ = 0;  // nanoseconds
};

}  // namespace sp::supervisor
