#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "core/channel.h"
#include "core/clock.h"
#include "core/messages.h"
#include "supervisor/sampling/blocked_threads.h"
#include "supervisor/sampling/tick_counts.h"
#include "supervisor/tracees/sample_slot.h"

namespace sp::supervisor {

/// Finds out which threads run, and on which CPUs, from /proc/PID/task/TID/stat. With --wall it
/// passes the blocked ones to BlockedThreads. Adds up the CPU time of those that run. Runs on the
/// timer thread; scan() needs the StopRequester's lock, for the ticker's thread reads the result
/// under it.
class ThreadScan {
 public:
  using Slot = std::shared_ptr<SampleSlot>;
  struct Running {
    Slot slot;
    int cpu = 0;
  };
  /// A summary of one scan.
  struct Seen {
    std::size_t scanned = 0;
    std::size_t threads = 0;  // that there were
    std::size_t on_cpu = 0;   // of the scanned ones
    bool report_was_dropped = false;
  };

  /// Scans as many threads as take a twentieth of `interval`.
  ThreadScan(SampleSlots& slots, core::Duration interval, bool wall,
             core::Channel<core::StopEvent>& events, TickCounts& counts);

  Seen scan(core::TimePoint now);

  /// Running and idle: may be asked to stop.
  [[nodiscard]] const std::vector<Running>& running() const { return running_; }
  [[nodiscard]] const SampleSlots::List& threads() const { return list_; }
  /// How many threads have come and gone so far.
  [[nodiscard]] std::uint64_t changes() const { return list_version_; }
  /// How many CPUs the running and the stopping threads were on; at least 1.
  [[nodiscard]] std::size_t busy_cpus() const { return busy_cpus_; }
  /// One of the running threads, at random. There must be one.
  [[nodiscard]] const Slot& any_running() { return running_[random_() % running_.size()].slot; }
  /// One of the threads that used a CPU, at random: a running one, else a stopping one; null where
  /// there is none.
  [[nodiscard]] const Running* any_on_cpu();

  /// A thread in state R is sampled only if it runs of its own accord: neither single-stepped by us
  /// nor woken by a stop of ours. Timer thread, or the lock's holder.
  [[nodiscard]] bool runs_by_itself(SampleSlot& slot);

 private:
  void refresh_list(core::TimePoint now);
  /// False if the report of a wait was dropped.
  bool scan_thread(const Slot& slot);

  SampleSlots& slots_;
  std::size_t most_scanned_;
  bool wall_;
  BlockedThreads blocked_;
  TickCounts& counts_;
  std::mt19937_64 random_;
  SampleSlots::List list_;
  std::uint64_t list_version_ = 0;
  std::vector<Running> running_;
  std::vector<Running> stopping_;  // a stop was requested and has not come yet
  std::size_t busy_cpus_ = 1;
};

}  // namespace sp::supervisor
