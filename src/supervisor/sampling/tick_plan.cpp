#include "supervisor/sampling/tick_plan.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace sp::supervisor {
namespace {

constexpr core::Duration kWindow = std::chrono::milliseconds(100);

core::Duration cpu_time(clockid_t clock) {
  timespec time{};
  return ::clock_gettime(clock, &time) == 0
             ? std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec)
             : core::Duration{};
}

/// linux/posix-timers_types.h: a thread's, as the scheduler counts.
clockid_t clock_of(pid_t tid) {
  constexpr clockid_t kPerThreadSched = 6;
  return (~tid << 3) | kPerThreadSched;
}

}  // namespace

TickPlan::TickPlan(core::Duration interval, double budget_percent, bool spaces_out,
                   CostMeter& meter, TickCounts& counts)
    : throttle_(interval, budget_percent),
      budget_(budget_percent / 100),
      meter_(meter),
      counts_(counts),
      random_(std::random_device{}()),
      spaces_out_(spaces_out),
      idle_(core::Clock::now()) {}

void TickPlan::begin(core::TimePoint first, pid_t server) {
  server_ = server;
  last_tick_ = first;
  window_start_ = first;
  idle_ = IdlePace(first);
}

void TickPlan::account(core::TimePoint now, const ThreadScan::Seen& seen, int cpus, bool again) {
  if (seen.report_was_dropped) {
    dropped_ = true;
  }
  const core::Duration gap = now - last_tick_;
  last_tick_ = now;
  if (!again) {
    left_over_ += stretch_;
    weight_ = static_cast<std::uint64_t>(left_over_);
    left_over_ -= static_cast<double>(weight_);
  }
  counts_.ticks += again ? 1 : weight_;
  idle_.saw(now, seen.on_cpu > 0, seen.scanned, core::Duration{counts_.target_cpu});
  counts_.ticking += gap.count();
  const double running =
      seen.scanned == 0
          ? 0
          : std::min<double>(static_cast<double>(seen.on_cpu) * static_cast<double>(seen.threads) /
                                 static_cast<double>(seen.scanned),
                             cpus);
  running_ += (running - running_) / 16;
  if (now - window_start_ < kWindow) {
    return;
  }
  // If the target could use every CPU, what we compute between its stops is taken from it, too.
  const core::Duration own = cpu_time(CLOCK_PROCESS_CPUTIME_ID);
  const double used = static_cast<double>((own - own_cpu_at_window_).count()) /
                      (static_cast<double>((now - window_start_).count()) * cpus);
  const core::Duration in_stops = server_ != 0 ? cpu_time(clock_of(server_)) : core::Duration{};
  const bool takes = running_ > cpus - 0.5;
  own_share_ = takes ? used : 0;
  if (takes && server_ != 0) {
    meter_.add_work(std::max(own - own_cpu_at_window_ - (in_stops - in_stops_at_window_), {}));
  }
  own_cpu_at_window_ = own;
  in_stops_at_window_ = in_stops;
  window_start_ = now;
  if (dropped_.exchange(false)) {
    throttle_.samples_were_dropped();
  } else {
    throttle_.window_was_clean();
  }
}

core::TimePoint TickPlan::next(core::TimePoint planned, core::TimePoint now, std::size_t busy_cpus,
                               bool by_ticker) {
  // Each CPU that the target uses gets one tick in the interval on average.
  const core::Duration mean =
      throttle_.interval(meter_.per_stop(), own_share_ + taken_by_others()) /
      static_cast<std::int64_t>(busy_cpus);
  const double before =
      std::exchange(stretch_, spaces_out_ && !by_ticker ? idle_.stretch(now, mean) : 1);
  const core::Duration spaced{
      static_cast<std::int64_t>(static_cast<double>(mean.count()) * stretch_)};
  // Counted from the planned time, so that a late wake-up does not lower the rate; a long delay (we
  // were stopped) is not made up for.
  const core::TimePoint next = std::max(planned + gap(spaced, before > 1), now - 2 * spaced);
  return by_ticker ? std::max(next, now + 3 * kTickerLead) : next;
}

double TickPlan::taken_by_others() const {
  constexpr double kMost = 0.75;  // of the budget
  const auto cpu = static_cast<double>(counts_.target_cpu.load());
  const double following = cpu > 0 ? static_cast<double>(meter_.following().count()) / cpu : 0;
  return std::min(others_share_ + following, kMost * budget_);
}

core::Duration TickPlan::gap(core::Duration mean, bool after_spaced) {
  const auto length = static_cast<double>(mean.count());
  if (stretch_ > 1) {
    // Only of a Poisson process may the rate depend on what its last events have found.
    std::exponential_distribution<double> gap(1 / length);
    return core::Duration{static_cast<std::int64_t>(gap(random_))};
  }
  std::uniform_real_distribution<double> part(0, 1);
  // Uniform in [0, 2U): the mean is U, and no period of the target can stay in step with it. Behind
  // a spaced tick, what is left of such a gap at a random moment.
  return core::Duration{static_cast<std::int64_t>(
      2 * length * (after_spaced ? 1 - std::sqrt(part(random_)) : part(random_)))};
}

}  // namespace sp::supervisor
