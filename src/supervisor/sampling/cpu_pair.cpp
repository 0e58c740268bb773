#include "supervisor/sampling/cpu_pair.h"

#include <algorithm>
#include <array>

#include "supervisor/linux/helper_threads.h"
#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {

void CpuPair::hold_until(core::TimePoint deadline) {
  constexpr std::size_t kMostScanned = 256;
  slots_.refresh(list_, list_version_);
  int busy = 0;
  int cpu = -1;
  pid_t tid = 0;
  for (std::size_t i = 0; i < list_.size() && i < kMostScanned && busy < 2; ++i) {
    std::array<char, 1024> buffer;
    SampleSlot& slot = *list_[i];
    const auto stat = parse_stat(reread(slot.stat, slot, "stat", buffer));
    // 't': it is in one of its ptrace stops.
    if (stat && (stat->state == 'R' || stat->state == 't')) {
      ++busy;
      cpu = stat->processor;
      tid = slot.thread.tid;
    }
  }
  if (busy != 1) {
    if (busy > 1) {
      affinity_.spread();
    }
    return;
  }
  affinity_.follow(cpu, tid);
  // A helper keeps that CPU busy itself, and is over sooner if it has it alone.
  while (affinity_.keeps_busy() && !HelperThreads::of_process().any() &&
         core::Clock::now() < deadline) {
  }
}

bool DenseStops::look(core::TimePoint now) {
  constexpr std::uint64_t kInRound = 5;
  const std::uint64_t stops = meter_.stops() - stops_;
  const auto rounds =
      static_cast<std::uint64_t>(std::max<core::Duration>(now - last_, kRound) / kRound);
  stops_ += stops;
  last_ = now;
  return stops >= kInRound * rounds;
}

}  // namespace sp::supervisor
