#include "supervisor/sampling/throttle.h"

#include <algorithm>
#include <cstdint>

namespace sp::supervisor {

Throttle::Throttle(core::Duration requested, double budget_percent)
    : requested_(requested), budget_(budget_percent / 100) {}

core::Duration Throttle::interval(core::Duration per_stop, double extra_share) const {
  double wanted = static_cast<double>(requested_.count()) * stretch_;
  if (budget_ > 0) {
    // Never less than a tenth of the budget: some samples are wanted on a busy CPU too.
    const double left = std::max(budget_ - extra_share, budget_ / 10);
    wanted = std::max(wanted, static_cast<double>(per_stop.count()) / left);
  }
  constexpr double kRoundsApart = 4;
  wanted = std::max(wanted, kRoundsApart * round_);
  constexpr double kLongest = 1e9;  // at least one sample a second
  return core::Duration{static_cast<std::int64_t>(
      std::min(wanted, std::max(kLongest, static_cast<double>(requested_.count()))))};
}

void Throttle::shared_cpu(core::Duration round) {
  const auto time = static_cast<double>(round.count());
  // Single long rounds do not count in full.
  round_ = round_ == 0 ? time : round_ + (std::min(time, 2 * round_) - round_) / 16;
}

void Throttle::samples_were_dropped() { stretch_ = std::min(stretch_ * 1.5, 1000.0); }

void Throttle::window_was_clean() { stretch_ = std::max(stretch_ * 0.95, 1.0); }

}  // namespace sp::supervisor
