#include "profiler/trace/trace_clock.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace sp::profiler {
namespace {

/// What a file says may be any number.
std::int64_t in_bounds(long double ns) {
  constexpr auto kMost = static_cast<long double>(std::numeric_limits<std::int64_t>::max()) / 4;
  return static_cast<std::int64_t>(std::clamp(ns, -kMost, kMost));
}

long double ticks_between(std::uint64_t from, std::uint64_t to) {
  return to >= from ? static_cast<long double>(to - from) : -static_cast<long double>(from - to);
}

}  // namespace

TraceClock::TraceClock(std::vector<TraceClockPair> pairs, std::int64_t start_ns) {
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const auto& a, const auto& b) { return a.ticks < b.ticks; });
  for (const TraceClockPair& pair : pairs) {
    if (pairs_.empty() || (pair.ticks > pairs_.back().ticks && pair.ns > pairs_.back().ns)) {
      pairs_.push_back(pair);
    }
  }
  if (pairs_.empty()) {
    pairs_.push_back({static_cast<std::uint64_t>(start_ns), 0});
  }
}

std::int64_t TraceClock::ns_at(std::uint64_t ticks) const {
  if (pairs_.size() == 1) {
    const TraceClockPair& only = pairs_.front();
    return in_bounds(static_cast<long double>(only.ns) + ticks_between(only.ticks, ticks));
  }
  auto next = std::upper_bound(
      pairs_.begin() + 1, pairs_.end() - 1, ticks,
      [](std::uint64_t number, const TraceClockPair& pair) { return number < pair.ticks; });
  const TraceClockPair& before = *(next - 1);
  const long double slope =
      (static_cast<long double>(next->ns) - static_cast<long double>(before.ns)) /
      ticks_between(before.ticks, next->ticks);
  return in_bounds(static_cast<long double>(before.ns) +
                   slope * ticks_between(before.ticks, ticks));
}

}  // namespace sp::profiler
