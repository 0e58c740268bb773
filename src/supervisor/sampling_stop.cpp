#include "supervisor/sampling_stop.h"

#include <signal.h>
#include <unistd.h>

#include <memory>

#include "core/clock.h"
#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {

bool is_own_stop(const Tracee& tracee) {
  const auto info = ptrace::signal_info(tracee.id.tid);
  if (!info || info->si_code != SI_TKILL) {
    return false;
  }
  // A process in a pid namespace of its own sees its tracer as pid 0.
  const bool expected = tracee.slot != nullptr && tracee.slot->state == SlotState::stop_pending;
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

void end_group_stop(Tracee& tracee) {
  if (tracee.process->guard != nullptr) {
    tracee.process->guard->stopped_by_others = false;
  }
  if (tracee.slot != nullptr) {
    SlotState left = SlotState::not_sampled;
    tracee.slot->state.compare_exchange_strong(left, SlotState::idle);
  }
}

}  // namespace sp::supervisor
