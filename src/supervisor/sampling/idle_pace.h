#pragma once

#include <cstddef>

#include "core/clock.h"

namespace sp::supervisor {

/// Spaces out the ticks while nobody runs, so that a process that sleeps costs next to nothing. A
/// tick then stands for as many as were left out before it: how far apart they are depends on the
/// past alone, so this adds no bias. The more the target computed in the last second, the more its
/// sleep may cost. Pure.
class IdlePace {
 public:
  explicit IdlePace(core::TimePoint now) : last_busy_(now), share_at_(now) {}

  /// A scan of `scanned` threads at `now` found one that used a CPU, or none. `target_cpu`: what
  /// the target has used so far.
  void saw(core::TimePoint now, bool any, std::size_t scanned, core::Duration target_cpu);
  /// How many times `mean`, the time between two ticks, the next one is away: 1 or more.
  [[nodiscard]] double stretch(core::TimePoint now, core::Duration mean) const;

 private:
  core::TimePoint last_busy_;
  core::TimePoint share_at_;
  core::Duration cpu_then_{};
  double share_ = 1;  // of one CPU, smoothed; as of a busy one where nothing is known yet
  core::Duration cost_{};
};

}  // namespace sp::supervisor
