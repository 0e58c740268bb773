#include "supervisor/sampling/cost_meter.h"

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

/// Applies until enough stops are known.
constexpr std::int64_t kHighestAtFirst = 120'000;  // nanoseconds

/// The kernel's way from a stop to us and back while no stop for a sample has shown it.
constexpr std::int64_t kWayAtFirst = 5'000;  // nanoseconds

/// The longest that is believed: where samples are few, the quickest may have waited for a system
/// call to end.
constexpr std::int64_t kLongestWay = 25'000;  // nanoseconds

std::int64_t with_way_back(std::int64_t latency) { return latency + latency / 4; }

/// The part of that in which the thread is stopped: what the latency is longer than the kernel
/// takes, up to an interrupt's way to another CPU in a virtual machine, the thread runs on.
std::int64_t stopped_on_ways(std::int64_t latency) {
  constexpr std::int64_t kKernels = 8'000;     // nanoseconds
  constexpr std::int64_t kInterrupt = 20'000;  // nanoseconds
  return with_way_back(latency) - std::clamp<std::int64_t>(latency - kKernels, 0, kInterrupt);
}

}  // namespace

void CostMeter::remember(std::int64_t latency, std::int64_t handling) {
  latencies_[next_] = latency;
  handlings_[next_] = handling;
  next_ = (next_ + 1) % kRecent;
  filled_ = std::min(filled_ + 1, kRecent);
  if (next_ % 8 != 0 && filled_ == kRecent) {
    return;
  }
  // The quickest recent stops show what a stop itself takes; the rest of a longer latency is time
  // in which the thread waited for a CPU that others had.
  latency_ceiling_ = 2 * quantile(latencies_, filled_, 1, 16);
  std::int64_t handled = quantile(handlings_, filled_, 1, 2);
  if (filled_ < kRecent / 2) {
    // The first stop of a program takes longer than others. Taken for typical, it would delay the
    // next one for long.
    latency_ceiling_ = std::min(latency_ceiling_, kHighestAtFirst);
    handled = std::min(handled, kHighestAtFirst);
  }
  const std::int64_t typical = std::min(quantile(latencies_, filled_, 1, 2), latency_ceiling_);
  per_stop_ = with_way_back(typical) + handled;
}

void CostMeter::add(core::Duration latency, core::Duration handling) {
  remember(latency.count(), handling.count());
  charge(stopped_on_ways(std::min(latency.count(), latency_ceiling_)) + handling.count());
}

void CostMeter::add_following(core::Duration handling, const Charged& before) {
  if (stops() != before.stops) {
    return;
  }
  const core::Duration left = std::max(handling - (stopped() - before.stopped), core::Duration{});
  const std::int64_t way =
      filled_ == 0 ? kWayAtFirst : with_way_back(std::min(latency_ceiling_ / 2, kLongestWay));
  following_stops_.fetch_add(1, std::memory_order_relaxed);
  following_.fetch_add(left.count() + way, std::memory_order_relaxed);
  add_work(left + core::Duration{way});
}

double CostMeter::percent_of(core::Duration target_cpu) const {
  // The kernel counts its ways as CPU time of the thread; caches that a stop has left cold, too,
  // which a hit does less: the next one follows soon.
  constexpr std::int64_t kCpuOfStop = 10'000;  // nanoseconds; bench/README.md
  constexpr std::int64_t kCpuOfHit = 3'500;    // nanoseconds
  constexpr std::int64_t kCpuOfCopy = 22'000;  // nanoseconds, of its installation and first run
  constexpr std::int64_t kLeastOwnPart = 4;
  // These are estimates, too: of a program of some milliseconds they may exceed its whole time.
  const std::int64_t without_counting =
      std::max(target_cpu.count() - counting_, target_cpu.count() / kLeastOwnPart);
  const auto hits = static_cast<std::int64_t>(hits_);
  const std::int64_t others = static_cast<std::int64_t>(stops_ + following_stops_) - hits;
  const std::int64_t in_stops = std::min(
      others * kCpuOfStop + hits * kCpuOfHit + static_cast<std::int64_t>(copied_) * kCpuOfCopy,
      without_counting / 4 * 3);
  const std::int64_t own = without_counting - in_stops;
  return own <= 0 ? 0
                  : 100.0 * static_cast<double>(stopped_ + counting_) / static_cast<double>(own);
}

void CostMeter::charge(std::int64_t cost) {
  stops_.fetch_add(1, std::memory_order_relaxed);
  stopped_.fetch_add(cost, std::memory_order_relaxed);
  if (cost > longest_.load(std::memory_order_relaxed)) {
    longest_.store(cost, std::memory_order_relaxed);
  }
}

}  // namespace sp::supervisor
