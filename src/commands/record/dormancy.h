#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/run_facts.h"
#include "supervisor/channels/trace_requests.h"

namespace sp::record {

/// Decides when a trace costs too much: when it did for three seconds in a row. Pure.
class CostWatch {
 public:
  static constexpr core::Duration kWindow = std::chrono::seconds(1);
  static constexpr int kWindows = 3;

  /// `most_percent`: of the target's own time, as Cost::overhead_percent has it.
  explicit CostWatch(double most_percent) : most_percent_(most_percent) {}

  /// What the run has cost so far. If each of the last three seconds cost too much: what they cost
  /// together, in percent; they count no more then.
  [[nodiscard]] std::optional<double> look(const core::Cost& so_far, core::TimePoint now);
  /// What comes is looked at anew.
  void begin_again() { looks_.clear(); }

 private:
  struct Look {
    core::TimePoint at;
    core::Duration ours;
    core::Duration cpu;  // of the target, without what copies took
    std::uint64_t stops;
  };
  [[nodiscard]] static double percent(const Look& from, const Look& to);

  double most_percent_;
  std::deque<Look> looks_;  // a window apart; too dear between each two
};

/// --dormant-after: switches a trace off that costs too much. Only samples are taken from then on,
/// until ctl PATH on wakes it.
class Dormancy {
 public:
  Dormancy(double most_percent, bool can_be_woken, supervisor::TraceRequests& requests)
      : watch_(most_percent),
        most_percent_(most_percent),
        can_be_woken_(can_be_woken),
        requests_(requests) {}

  /// Now and then, on one thread.
  void look(const core::RunFacts& so_far, core::TimePoint now);
  /// What happened, for run.json. Any thread.
  [[nodiscard]] std::vector<std::string> notes() const;

 private:
  CostWatch watch_;
  double most_percent_;
  bool can_be_woken_;
  supervisor::TraceRequests& requests_;
  mutable std::mutex mutex_;
  std::vector<std::string> notes_;
};

}  // namespace sp::record
