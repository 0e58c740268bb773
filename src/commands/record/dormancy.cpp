#include "commands/record/dormancy.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/log.h"

namespace sp::record {

double CostWatch::percent(const Look& from, const Look& to) {
  // As CostMeter::percent_of() has it.
  constexpr core::Duration kCpuOfStop = std::chrono::microseconds(10);
  // A program that only waits has no time that anything could be a share of.
  constexpr core::Duration kLeast = std::chrono::milliseconds(1);
  const core::Duration cpu = to.cpu - from.cpu;
  const core::Duration in_stops = std::min<core::Duration>(
      kCpuOfStop * static_cast<std::int64_t>(to.stops - from.stops), cpu / 2);
  const core::Duration own = std::max(cpu - in_stops, kLeast);
  return 100.0 * static_cast<double>((to.ours - from.ours).count()) /
         static_cast<double>(own.count());
}

std::optional<double> CostWatch::look(const core::Cost& so_far, core::TimePoint now) {
  const Look look{now, so_far.stopped + so_far.counting, so_far.target_cpu - so_far.counting,
                  so_far.stops};
  if (looks_.empty()) {
    looks_.push_back(look);
    return std::nullopt;
  }
  if (now - looks_.back().at < kWindow) {
    return std::nullopt;
  }
  if (percent(looks_.back(), look) <= most_percent_) {
    looks_ = {look};
    return std::nullopt;
  }
  looks_.push_back(look);
  if (looks_.size() <= kWindows) {
    return std::nullopt;
  }
  const double all = percent(looks_.front(), look);
  looks_ = {look};
  return all;
}

void Dormancy::look(const core::RunFacts& so_far, core::TimePoint now) {
  if (!requests_.is_on()) {
    watch_.begin_again();
    return;
  }
  const auto percent = watch_.look(so_far.cost, now);
  if (!percent) {
    return;
  }
  const std::string reason =
      fmt::format("it cost {:.0f} % for {} s, more than the {:g} % of --dormant-after", *percent,
                  CostWatch::kWindows, most_percent_);
  core::log_note("the trace is off: {}{}", reason,
                 can_be_woken_ ? "; superprofiler ctl PATH on wakes it" : "");
  {
    const std::lock_guard lock(mutex_);
    notes_.push_back(fmt::format("off after {:.1f} s: {}",
                                 std::chrono::duration<double>(so_far.elapsed).count(), reason));
  }
  requests_.ask({core::TraceAction::off, 0, {}, reason});
}

std::vector<std::string> Dormancy::notes() const {
  const std::lock_guard lock(mutex_);
  return notes_;
}

}  // namespace sp::record
