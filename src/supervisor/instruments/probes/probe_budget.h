#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/clock.h"

namespace sp::supervisor {

/// The part of --overhead that probes may use; samples use the rest. Pure.
class ProbeBudget {
 public:
  static constexpr core::Duration kFirstAllowance = std::chrono::milliseconds(3);

  /// `percent` of the target's on-CPU time for samples and probes together; 0 = no limit.
  /// `first_allowance`: what probes may cost in any case.
  explicit ProbeBudget(double percent, core::Duration first_allowance = kFirstAllowance)
      : share_(percent / 100 * kPart), first_allowance_(first_allowance) {}

  void spend(core::Duration cost) { spent_ += cost; }
  /// More of what probes may cost in any case.
  void allow(core::Duration more) { first_allowance_ += more; }
  [[nodiscard]] core::Duration spent() const { return spent_; }
  /// `beside`, a part of what was spent, has counted nothing: too much of it for the probes of one
  /// program.
  [[nodiscard]] bool is_too_much(core::Duration beside) const;
  /// What code takes longer because it runs from copies; `target_cpu` includes it.
  void spend_in_copies(core::Duration cost) { in_copies_ += cost; }

  /// Probes have cost more than `target_cpu` allows so far, of which half of what `following` the
  /// target's processes has cost is taken, but not more than three quarters. A short program may
  /// exceed its share, but not the first allowance.
  [[nodiscard]] bool is_exceeded(core::Duration target_cpu, core::Duration following) const;
  /// The part (0..1) of the target's time that copies may take longer from now on, because they
  /// have cost more than was left for them; nothing if they have not. Samples keep a quarter of
  /// --overhead.
  [[nodiscard]] std::optional<double> limit_of_copies(core::Duration target_cpu) const;
  /// Independent of the limit: probes have cost more than a second, and more than a third of the
  /// time since the last call.
  [[nodiscard]] bool is_bottleneck(core::TimePoint now);
  /// The part (0..1) of the target's time that probes and copies have cost, limited to one and a
  /// half times their share, so that a quarter of --overhead remains for samples.
  [[nodiscard]] double used(core::Duration target_cpu) const;

 private:
  static constexpr double kPart = 0.5;

  double share_;
  core::Duration first_allowance_;
  core::Duration spent_{};
  core::Duration in_copies_{};
  core::TimePoint asked_;        // when is_bottleneck() was last called,
  core::Duration spent_then_{};  // and `spent_` then
};

/// Estimates what one hit costs the target, from the breakpoint's trap until the thread runs again.
/// The tracer sees the time from when wait returns to when it resumes the thread. The kernel's time
/// for the stop and for the resumption shows in the times between resuming a thread and its next
/// hit, where these are short: it takes the shortest at least, and what a quarter of them are
/// shorter than, unless that is twice as long and so may be the program's. What is far above the
/// usual is time in which we waited for a CPU that others had. Pure.
class HitCost {
 public:
  /// Adds a hit that took the tracer `handled`, `since_last` after it last resumed the thread from
  /// a hit (0: the thread's first). Returns the hit's cost.
  core::Duration add(core::Duration handled, core::Duration since_last);
  /// The least that the kernel takes for a hit, as far as it is known.
  [[nodiscard]] core::Duration round_trip() const { return round_trip_; }

 private:
  static constexpr std::size_t kBatch = 64;
  static constexpr core::Duration kInitial = std::chrono::microseconds(8);
  static constexpr core::Duration kMost = std::chrono::microseconds(60);

  void learn_way();

  core::Duration round_trip_ = kInitial;
  core::Duration way_ = kInitial;  // the kernel's part that is charged
  core::Duration usual_ = kInitial;
  std::array<core::Duration, kBatch> between_{};
  std::size_t known_ = 0;  // of these
  std::size_t in_batch_ = 0;
};

}  // namespace sp::supervisor
