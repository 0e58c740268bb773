#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "core/clock.h"
#include "supervisor/channels/user_requests.h"
#include "supervisor/channels/wakeup_signal.h"
#include "supervisor/tracees/sample_slot.h"

namespace sp::supervisor {

enum class StopWith : std::uint8_t { sigstop, interrupt };

/// Requests the stops of threads: sends SIGSTOP, or asks the ptrace thread for PTRACE_INTERRUPT.
/// Used by the timer thread and the ticker's thread, each with lock() held: once pause() has
/// returned, no stop is requested any more.
class StopRequester {
 public:
  /// `count_ticks`: a stop stands for all ticks of running threads since the last one (--wall).
  StopRequester(StopWith how, bool count_ticks, UserRequests& user_requests, WakeupSignal& wakeup);

  /// Whoever decides what to stop holds it from the scan of the threads to the request. It guards
  /// what both threads use for that, too.
  [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
  [[nodiscard]] bool is_paused() const { return paused_; }
  /// So many running threads were seen at this tick.
  void add_ticks(std::uint64_t ticks) { uncounted_ticks_ += ticks; }
  /// Does nothing unless the slot is idle. The time since `since` is charged as the stop's latency.
  /// The sample stands for `ticks`, unless those are counted here.
  void request(const std::shared_ptr<SampleSlot>& slot, core::TimePoint since,
               std::uint64_t ticks = 1);

  /// Any thread; takes the lock.
  void pause();
  /// From now on no SIGSTOP is sent. Any thread.
  void use_interrupts() { interrupts_only_ = true; }
  [[nodiscard]] bool uses_interrupts() const { return interrupts_only_; }
  /// The threads to stop with PTRACE_INTERRUPT. Runs on the ptrace thread.
  [[nodiscard]] SampleSlots::List take_interrupts();

 private:
  bool count_ticks_;
  UserRequests& user_requests_;
  WakeupSignal& wakeup_;
  std::atomic<bool> interrupts_only_;
  std::mutex mutex_;
  bool paused_ = false;
  std::uint64_t uncounted_ticks_ = 0;  // that no stop stands for yet
  std::mutex interrupts_mutex_;
  SampleSlots::List interrupts_;
};

}  // namespace sp::supervisor
