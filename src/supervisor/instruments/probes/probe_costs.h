#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "core/clock.h"
#include "supervisor/instruments/probes/probe_budget.h"
#include "supervisor/instruments/probes/probed_thread.h"
#include "supervisor/sampling/cost_meter.h"
#include "supervisor/sampling/sample_timer.h"

namespace sp::supervisor {

/// Charges what probes cost the target to their budget, to the meter of the whole run and, through
/// the timer, to sampling. Runs on the ptrace thread, but for spent().
class ProbeCosts {
 public:
  ProbeCosts(double overhead_percent, core::Duration first_allowance, CostMeter& meter,
             SampleTimer& timer)
      : meter_(meter), timer_(timer), budget_(overhead_percent, first_allowance) {}

  /// More was spent than the budget allows so far.
  [[nodiscard]] bool is_exceeded() const {
    return !suspended_at_ && budget_.is_exceeded(target_cpu(), meter_.following());
  }
  /// Until resume_limit() it may spend what it likes, which is allowed beside the budget.
  void suspend_limit() { suspended_at_ = budget_.spent(); }
  void resume_limit() {
    budget_.allow(budget_.spent() - suspended_at_.value_or(budget_.spent()));
    suspended_at_.reset();
  }
  /// The same, and what the probes of a program cost beside counting is too much of it:
  /// ProbeBudget::is_too_much().
  [[nodiscard]] bool are_dear(core::Duration beside) const {
    return budget_.is_too_much(beside) && is_exceeded();
  }
  /// ProbeBudget::is_bottleneck().
  [[nodiscard]] bool is_bottleneck(core::TimePoint now) { return budget_.is_bottleneck(now); }

  /// A stop begins that add_hit() may end.
  void begin_stop() { work_ = {}; }
  /// A thread's hit that was heard of at `heard` is over: the thread runs again. Charges what
  /// add_work() has not, and returns it.
  core::Duration add_hit(ProbedThread& thread, core::TimePoint heard);
  /// What the last hit has cost, without time in which we waited for a CPU.
  [[nodiscard]] core::Duration last_hit() const { return last_hit_; }
  /// The kernel's part of a hit; HitCost::round_trip().
  [[nodiscard]] core::Duration round_trip() const { return hit_cost_.round_trip(); }
  /// Other work for the probes, done while a thread was stopped.
  void add_work(core::Duration cost);
  /// Work done before a program's first instruction, which the program has to wait for.
  void add_preparation(core::Duration cost) { meter_.add_work(cost); }
  /// So many functions run from copies from now on.
  void add_copied(std::uint64_t functions) { meter_.add_copied(functions); }
  /// Code took longer because it ran from copies.
  void add_copies(core::Duration cost);
  /// ProbeBudget's.
  [[nodiscard]] std::optional<double> limit_of_copies() const {
    return budget_.limit_of_copies(target_cpu());
  }
  /// On-CPU time of the target so far, stops not included.
  [[nodiscard]] core::Duration target_cpu() const;
  /// Tells sampling how much of the budget is left for it.
  void tell_timer() { timer_.others_use(budget_.used(target_cpu())); }

  /// Any thread.
  [[nodiscard]] core::Duration spent() const { return core::Duration{spent_.load()}; }

 private:
  void spend(core::Duration cost);

  CostMeter& meter_;
  SampleTimer& timer_;
  ProbeBudget budget_;
  std::optional<core::Duration> suspended_at_{};  // what was spent by then
  HitCost hit_cost_;
  core::Duration last_hit_{};
  core::Duration work_{};  // charged since begin_stop()
  std::atomic<std::int64_t> spent_{0};
};

}  // namespace sp::supervisor
