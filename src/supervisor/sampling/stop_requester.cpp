#include "supervisor/sampling/stop_requester.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace sp::supervisor {

StopRequester::StopRequester(StopWith how, bool count_ticks, UserRequests& user_requests,
                             WakeupSignal& wakeup)
    : count_ticks_(count_ticks),
      user_requests_(user_requests),
      wakeup_(wakeup),
      interrupts_only_(how == StopWith::interrupt) {}

void StopRequester::request(const std::shared_ptr<SampleSlot>& slot, core::TimePoint since,
                            std::uint64_t ticks) {
  const bool by_signal = !interrupts_only_ && !minds_sigstop(*slot);
  if (slot->state != SlotState::idle) {
    return;
  }
  slot->ticks =
      count_ticks_ ? std::max<std::uint64_t>(std::exchange(uncounted_ticks_, 0), 1) : ticks;
  slot->stop_requested_at = since.time_since_epoch().count();
  slot->by_signal = by_signal;
  if (by_signal) {
    slot->guard->note_start_time();
    // Counted before it is sent: if we die in between, the guardian must find it counted.
    ++slot->guard->stops_in_flight;
  }
  SlotState expected = SlotState::idle;
  if (!slot->state.compare_exchange_strong(expected, SlotState::stop_pending)) {
    if (by_signal) {
      --slot->guard->stops_in_flight;
    }
    return;
  }
  if (!by_signal) {
    {
      const std::lock_guard lock(interrupts_mutex_);
      interrupts_.push_back(slot);
    }
    user_requests_.interrupts_wanted = true;
    wakeup_.send();
    return;
  }
  if (::syscall(SYS_tgkill, slot->process.pid, slot->thread.tid, SIGSTOP) != 0) {
    if (errno == EPERM) {
      // We may trace it but not signal it (another user's process, and no CAP_KILL).
      interrupts_only_ = true;
    }
    expected = SlotState::stop_pending;
    if (slot->state.compare_exchange_strong(expected, SlotState::idle)) {
      --slot->guard->stops_in_flight;
    }
  }
}

void StopRequester::pause() {
  const std::lock_guard lock(mutex_);
  paused_ = true;
}

SampleSlots::List StopRequester::take_interrupts() {
  const std::lock_guard lock(interrupts_mutex_);
  return std::exchange(interrupts_, {});
}

}  // namespace sp::supervisor
