#include "supervisor/sampling_stop.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <memory>

#include "core/clock.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {

bool is_own_stop(const Tracee& tracee) {
  const auto info = ptrace::signal_info(tracee.id.tid);
  const bool expected = tracee.slot != nullptr && tracee.slot->state == SlotState::stop_pending &&
                        tracee.slot->by_signal;
  // At RLIMIT_SIGPENDING the kernel sends it without saying from whom.
  if (info && info->si_code == SI_USER && info->si_pid == 0 && info->si_uid == 0) {
    return expected;
  }
  if (!info || info->si_code != SI_TKILL) {
    return false;
  }
  // A process in a pid namespace of its own sees its tracer as pid 0.
  return info->si_pid == ::getpid() || (info->si_pid == 0 && expected);
}

void carry_over_stop(Tracee& tracee, const TracedProcess& process) {
  if (tracee.slot == nullptr) {
    tracee.slot = std::make_shared<SampleSlot>(process.id, tracee.id);  // for this stop alone
    tracee.slot->guard = process.guard;
  }
  tracee.slot->guard->note_start_time();
  tracee.slot->by_signal = true;
  // Only from here on: the exec itself is no cost of ours.
  tracee.slot->stop_requested_at = core::Clock::now().time_since_epoch().count();
  ++tracee.slot->guard->stops_in_flight;
  tracee.slot->state = SlotState::stop_pending;
}

bool stop_is_coming(const Tracee& tracee) {
  SampleSlot* const slot = tracee.slot.get();
  if (slot == nullptr || !slot->by_signal || slot->state != SlotState::stop_pending) {
    return false;
  }
  const auto masks = read_signal_masks(tracee.id.tid);
  if (!masks || (masks->thread_pending & signal_bit(SIGSTOP)) != 0) {
    return true;
  }
  end_pending_stop(*slot, SlotState::idle);
  return false;
}

void look_for_sigcont_handler(TracedProcess& process, pid_t tid, core::TimePoint now) {
  constexpr core::Duration kBetween = std::chrono::milliseconds(50);
  if (process.guard == nullptr || process.guard->minds_sigstop ||
      now - process.signals_read < kBetween) {
    return;
  }
  process.signals_read = now;
  const auto masks = read_signal_masks(tid);
  // Blocked it is in each program now and then: libc blocks all signals to start a process.
  process.guard->minds_sigstop = masks && (masks->caught & signal_bit(SIGCONT)) != 0;
}

void end_group_stop(Tracee& tracee) {
  if (tracee.process->guard != nullptr) {
    tracee.process->guard->stopped_by_others = false;
  }
  if (tracee.slot != nullptr && !stop_is_coming(tracee)) {
    SlotState left = SlotState::not_sampled;
    tracee.slot->state.compare_exchange_strong(left, SlotState::idle);
  }
}

}  // namespace sp::supervisor
