#include "supervisor/sampling/throttle.h"

#include <algorithm>

namespace sp::supervisor {

namespace {

/// The value below which `numerator` / `denominator` of the first `count` values lie.
template <std::size_t Size>
std::int64_t quantile(std::array<std::int64_t, Size> values, std::size_t count,
                      std::size_t numerator, std::size_t denominator) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(count * numerator / denominator);
  std::nth_element(values.begin(), at, values.begin() + static_cast<std::ptrdiff_t>(count));
  return *at;
}

/// Until enough stops are known to tell what one takes.
constexpr std::int64_t kHighestAtFirst = 120'000;  // nanoseconds

std::int64_t with_way_back(std::int64_t latency) { return latency + latency / 4; }

}  // namespace

void CostMeter::remember(std::int64_t latency, std::int64_t handling) {
  latencies_[next_] = latency;
  handlings_[next_] = handling;
  next_ = (next_ + 1) % kRecent;
  filled_ = std::min(filled_ + 1, kRecent);
  if (next_ % 8 != 0 && filled_ == kRecent) {
    return;
  }
  // What the quickest of the last stops took is what a stop takes; the rest of a longer latency is
  // time in which the thread waited for a CPU that others had.
  latency_ceiling_ = 2 * quantile(latencies_, filled_, 1, 16);
  std::int64_t handled = quantile(handlings_, filled_, 1, 2);
  if (filled_ < kRecent / 2) {
    // The first stop of a program has more to do than others. Taken for typical it would be the
    // last for a while.
    latency_ceiling_ = std::min(latency_ceiling_, kHighestAtFirst);
    handled = std::min(handled, kHighestAtFirst);
  }
  const std::int64_t typical = std::min(quantile(latencies_, filled_, 1, 2), latency_ceiling_);
  per_stop_ = with_way_back(typical) + handled;
}

void CostMeter::add(core::Duration latency, core::Duration handling) {
  remember(latency.count(), handling.count());
  charge(with_way_back(std::min(latency.count(), latency_ceiling_)) + handling.count());
}

void CostMeter::charge(std::int64_t cost) {
  stops_.fetch_add(1, std::memory_order_relaxed);
  stopped_.fetch_add(cost, std::memory_order_relaxed);
  if (cost > longest_.load(std::memory_order_relaxed)) {
    longest_.store(cost, std::memory_order_relaxed);
  }
}

Governor::Governor(core::Duration requested, double budget_percent)
    : requested_(requested), budget_(budget_percent / 100) {}

core::Duration Governor::interval(core::Duration per_stop, double extra_share) const {
  double wanted = static_cast<double>(requested_.count()) * stretch_;
  if (budget_ > 0) {
    // Never less than a tenth of the budget: with a contended CPU we still want to see something.
    const double left = std::max(budget_ - extra_share, budget_ / 10);
    wanted = std::max(wanted, static_cast<double>(per_stop.count()) / left);
  }
  constexpr double kRoundsApart = 4;
  wanted = std::max(wanted, kRoundsApart * round_);
  constexpr double kLongest = 1e9;  // one sample a second at the least
  return core::Duration{static_cast<std::int64_t>(
      std::min(wanted, std::max(kLongest, static_cast<double>(requested_.count()))))};
}

void Governor::shared_cpu(core::Duration round) {
  const auto time = static_cast<double>(round.count());
  // A few have more to do than others.
  round_ = round_ == 0 ? time : round_ + (std::min(time, 2 * round_) - round_) / 16;
}

void Governor::samples_were_dropped() { stretch_ = std::min(stretch_ * 1.5, 1000.0); }

void Governor::window_was_clean() { stretch_ = std::max(stretch_ * 0.95, 1.0); }

}  // namespace sp::supervisor
