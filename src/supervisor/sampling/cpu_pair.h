#pragma once

#include <cstdint>

#include "core/clock.h"
#include "supervisor/linux/cpu_affinity.h"
#include "supervisor/tracees/sample_slot.h"

namespace sp::supervisor {

/// Exact mode stops a thread hundreds of thousands of times a second, and each stop costs 3 us
/// where the ptrace thread shares the thread's CPU and 50 us where it does not. So while one thread
/// runs the ptrace thread is put on its CPU, and this thread keeps the other one busy, lest the
/// scheduler moves the target there whenever it is let run. Runs on the timer thread.
class CpuPair {
 public:
  CpuPair(SampleSlots& slots, CpuAffinity& affinity) : slots_(slots), affinity_(affinity) {}

  /// Looks at the threads and does the above until `deadline`, or not at all: returns at once where
  /// there is nothing to keep busy for.
  void keep_until(core::TimePoint deadline);

 private:
  SampleSlots& slots_;
  CpuAffinity& affinity_;
  SampleSlots::List list_;
  std::uint64_t list_version_ = 0;
};

}  // namespace sp::supervisor
