#pragma once

#include <cstdint>

#include "core/clock.h"

namespace sp::supervisor {

/// What probes may cost: a part of --overhead, which sampling shares. Pure.
class ProbeBudget {
 public:
  /// `percent` of the target's on-CPU time for everything; 0 = no limit.
  explicit ProbeBudget(double percent) : share_(percent / 100 * kPart) {}

  void spend(core::Duration cost) { spent_ += cost; }
  [[nodiscard]] core::Duration spent() const { return spent_; }

  /// More was spent than `target_cpu` allows so far. A short program may cost more than its share,
  /// but not more than the first allowance.
  [[nodiscard]] bool is_exceeded(core::Duration target_cpu) const;
  /// Whatever the limit is: more than a second was spent, and more than a third of the time since
  /// the last call.
  [[nodiscard]] bool is_bottleneck(core::TimePoint now);
  /// The part (0..1) of the target's time that was used up; at most half as much again as is ours,
  /// so that a quarter of the whole is left for sampling.
  [[nodiscard]] double used(core::Duration target_cpu) const;

 private:
  static constexpr double kPart = 0.5;

  double share_;
  core::Duration spent_{};
  core::TimePoint asked_;  // is_bottleneck()
  core::Duration spent_then_{};
};

/// What one hit costs the target: from running into the breakpoint to running again. We see when we
/// hear of it and when we are done; what the kernel takes for going to and fro shows as the
/// shortest time between letting a thread run and hearing of its next hit. Pure.
class HitCost {
 public:
  /// One hit that was `handled` in that time, `since_last` after the last one of its thread was let
  /// run (0: it is the first). Returns its cost.
  core::Duration add(core::Duration handled, core::Duration since_last);

 private:
  static constexpr int kBatch = 64;
  static constexpr core::Duration kAtFirst = std::chrono::microseconds(8);
  static constexpr core::Duration kMost = std::chrono::microseconds(60);

  core::Duration way_ = kAtFirst;
  core::Duration shortest_ = kMost;
  int in_batch_ = 0;
};

}  // namespace sp::supervisor
