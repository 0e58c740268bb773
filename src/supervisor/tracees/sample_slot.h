#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "core/fd.h"
#include "core/ids.h"
#include "supervisor/guardian/pending_stops.h"
#include "supervisor/tracees/process_cpu.h"

namespace sp::supervisor {

enum class SlotState : std::uint8_t {
  idle,          // runs or sleeps: may be stopped
  stop_pending,  // a stop of ours is pending
  not_sampled,   // in a group-stop, or not to be sampled: leave it alone
  gone,
};

/// What the timer thread and the ptrace thread share about one traced thread.
struct SampleSlot {
  SampleSlot(core::ProcessId process_id, core::ThreadId thread_id)
      : process(process_id), thread(thread_id) {}

  const core::ProcessId process;
  const core::ThreadId thread;
  std::atomic<SlotState> state{SlotState::idle};
  /// When the pending stop was requested, in nanoseconds of core::Clock.
  std::atomic<std::int64_t> stop_requested_at{0};
  /// The pending stop is a SIGSTOP, which is counted at `guard`.
  std::atomic<bool> by_signal{false};
  /// The thread is, or was, in the pending stop, which the ptrace thread is about to end.
  std::atomic<bool> has_come{false};
  /// We single-step the thread: that is not time of its own.
  std::atomic<bool> stepped{false};
  /// A stop of ours woke the blocked thread, so it was scheduled although its wait goes on.
  std::atomic<bool> scheduled_by_us{false};

  /// How many ticks the pending stop stands for (core::Sampled::count).
  std::atomic<std::uint64_t> ticks{1};

  /// The system call from which a stop of ours last woke the thread. The kernel continues it under
  /// the name restart_syscall.
  std::atomic<int> interrupted_call{-1};
  /// The process's entry of the pending-stop table; set before the slot is shared.
  PendingStops* guard = nullptr;
  /// The process's; set before the slot is shared.
  std::shared_ptr<ProcessCpu> cpu;

  core::UniqueFd stat;  // the timer thread's: /proc/PID/task/TID/stat
};

/// Reads a small file of /proc/PID/task/TID through `fd`, which it opens the first time and keeps
/// open while there are enough descriptors. Returns a view of `buffer`; empty if the thread is
/// gone.
[[nodiscard]] std::string_view reread(core::UniqueFd& fd, const SampleSlot& slot, const char* name,
                                      std::span<char> buffer);

/// It is stopped by PTRACE_INTERRUPT alone.
[[nodiscard]] inline bool minds_sigstop(const SampleSlot& slot) {
  return slot.guard == nullptr || slot.guard->minds_sigstop;
}

/// Ends the slot's pending stop, if there is one: the slot becomes `next`. Call it when the thread
/// runs again, or will never stop again.
inline void end_pending_stop(SampleSlot& slot, SlotState next) {
  const bool counted = slot.by_signal;
  if (slot.state.exchange(next) == SlotState::stop_pending && counted) {
    --slot.guard->stops_in_flight;
  }
}

/// The same for a SIGSTOP that will never come: SIGCONT, from whoever, discards those that are
/// pending. Any thread; reads two files of /proc, so call it where a stop is long in coming.
void settle_discarded_stop(SampleSlot& slot);

/// The slots of the threads that may be sampled. The ptrace thread adds and removes; the timer
/// thread copies the list when it has changed.
class SampleSlots {
 public:
  using List = std::vector<std::shared_ptr<SampleSlot>>;

  void add(std::shared_ptr<SampleSlot> slot) {
    const std::lock_guard lock(mutex_);
    slots_.push_back(std::move(slot));
    version_.fetch_add(1, std::memory_order_release);
  }

  void remove(const std::shared_ptr<SampleSlot>& slot) {
    end_pending_stop(*slot, SlotState::gone);
    const std::lock_guard lock(mutex_);
    std::erase(slots_, slot);
    version_.fetch_add(1, std::memory_order_release);
  }

  /// Brings `list` up to date; `version` belongs to the caller and remembers the last time.
  void refresh(List& list, std::uint64_t& version) const {
    if (version == version_.load(std::memory_order_acquire)) {
      return;
    }
    const std::lock_guard lock(mutex_);
    list = slots_;
    version = version_.load(std::memory_order_relaxed);
  }

 private:
  mutable std::mutex mutex_;
  List slots_;
  std::atomic<std::uint64_t> version_{1};
};

}  // namespace sp::supervisor
