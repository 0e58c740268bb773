#pragma once

#include <cstdint>

#include "core/clock.h"
#include "supervisor/linux/cpu_affinity.h"
#include "supervisor/sampling/cost_meter.h"
#include "supervisor/tracees/sample_slot.h"

namespace sp::supervisor {

/// Holds two CPUs for an exact count: one for the target and the ptrace thread, one kept busy.
/// Exact mode stops a thread hundreds of thousands of times a second; a stop costs 3 us if the
/// ptrace thread shares the thread's CPU and 50 us if it does not. So while one thread runs, the
/// ptrace thread is put on its CPU, and the timer thread keeps the other CPU busy, or the scheduler
/// would move the target there whenever it is resumed. Runs on the timer thread.
class CpuPair {
 public:
  CpuPair(SampleSlots& slots, CpuAffinity& affinity) : slots_(slots), affinity_(affinity) {}

  /// Scans the threads and holds the CPUs until `deadline`. Returns at once if there is nothing to
  /// keep busy for, or another thread of ours does it.
  void hold_until(core::TimePoint deadline);

 private:
  SampleSlots& slots_;
  CpuAffinity& affinity_;
  SampleSlots::List list_;
  std::uint64_t list_version_ = 0;
};

/// Whether the target is stopped so often, by probes, that it is worth a CPU to hold the pair.
class DenseStops {
 public:
  static constexpr core::Duration kRound = std::chrono::milliseconds(1);

  explicit DenseStops(const CostMeter& meter) : meter_(meter) {}

  /// Since the last call.
  [[nodiscard]] bool look(core::TimePoint now);

 private:
  const CostMeter& meter_;
  core::TimePoint last_;
  std::uint64_t stops_ = 0;
};

}  // namespace sp::supervisor
