#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sp::supervisor {

/// One process that may have SIGSTOPs of ours pending.
struct PendingStops {
  std::atomic<pid_t> pid{0};                 // 0: the entry is free
  std::atomic<std::uint64_t> start_time{0};  // 0: not known yet
  /// SIGSTOPs that were sent and whose stop has not ended yet.
  std::atomic<int> stops_in_flight{0};
  /// Somebody else has stopped the process: it must stay stopped without us.
  std::atomic<bool> stopped_by_others{false};
  /// It may look for SIGCONT, which the kernel discards where a SIGSTOP of ours comes behind it, or
  /// stops by SIGSTOP itself, which may become one with ours: it is stopped by PTRACE_INTERRUPT.
  std::atomic<bool> minds_sigstop{false};

  /// Before the first stop: most processes of a shell or of make never get one.
  void note_start_time();
};

/// The pending-stop table. Lives in memory that is shared with the guardian process: the ptrace
/// thread and the timer's threads write, the guardian reads once superprofiler is dead.
struct PendingStopTable {
  static constexpr std::size_t kEntries = 4096;

  /// An entry for a process; null if all are taken.
  [[nodiscard]] PendingStops* add(pid_t pid);
  [[nodiscard]] bool any_in_flight() const;
  /// Continues the processes that a pending SIGSTOP of ours has stopped, or would stop. Runs in the
  /// guardian process.
  void undo();

  std::array<PendingStops, kEntries> entries;
};

}  // namespace sp::supervisor
