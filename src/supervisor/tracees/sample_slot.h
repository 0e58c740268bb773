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

namespace sp::supervisor {

enum class SlotState : std::uint8_t {
  idle,         // runs or sleeps by itself: may be asked to stop
  asked,        // a stop of ours is on its way
  not_sampled,  // in a group-stop, or not to be sampled: leave it alone
  gone,
};

/// What the timer thread and the ptrace thread share about one traced thread.
struct SampleSlot {
  SampleSlot(core::ProcessId process_id, core::ThreadId thread_id)
      : process(process_id), thread(thread_id) {}

  const core::ProcessId process;
  const core::ThreadId thread;
  std::atomic<SlotState> state{SlotState::idle};
  /// When the stop was asked for, nanoseconds of core::Clock.
  std::atomic<std::int64_t> asked_at{0};
  /// The stop that was asked for is a SIGSTOP, which counts as one in flight at `guard`.
  std::atomic<bool> by_signal{false};
  /// It goes step by step for us: that is no time of its own.
  std::atomic<bool> stepped{false};
  /// A blocked thread was stopped by us, so it was scheduled without having woken up.
  std::atomic<bool> scheduled_by_us{false};

  /// How many ticks the stop that is on its way stands for (core::Sampled::count).
  std::atomic<std::uint64_t> ticks{1};

  /// The system call that a stop of ours last woke it from; the kernel goes on with it under the
  /// name of restart_syscall.
  std::atomic<int> interrupted_call{-1};
  /// Where SIGSTOPs in flight are counted; set before the slot is shared.
  PendingStops* guard = nullptr;

  core::UniqueFd stat;  // the timer thread's: /proc/PID/task/TID/stat
};

/// Reads a small file of /proc/PID/task/TID again through `fd`, one of the slot's, which stays
/// open; empty where the thread is gone. The answer lies in `buffer`.
[[nodiscard]] std::string_view reread(core::UniqueFd& fd, const SampleSlot& slot, const char* name,
                                      std::span<char> buffer);

/// Ends an asked-for stop: the slot becomes `next`. To be called when the thread runs again, or
/// will never stop any more.
inline void settle(SampleSlot& slot, SlotState next) {
  const bool counted = slot.by_signal;
  if (slot.state.exchange(next) == SlotState::asked && counted) {
    --slot.guard->stops_in_flight;
  }
}

/// The threads that may be sampled. The ptrace thread adds and removes; the timer thread copies
/// the list when it has changed.
class SampleSlots {
 public:
  using List = std::vector<std::shared_ptr<SampleSlot>>;

  void add(std::shared_ptr<SampleSlot> slot) {
    const std::lock_guard lock(mutex_);
    slots_.push_back(std::move(slot));
    version_.fetch_add(1, std::memory_order_release);
  }

  void remove(const std::shared_ptr<SampleSlot>& slot) {
    settle(*slot, SlotState::gone);
    const std::lock_guard lock(mutex_);
    std::erase(slots_, slot);
    version_.fetch_add(1, std::memory_order_release);
  }

  /// Brings `list` up to date; `version` is the caller's memory of the last time.
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
