#include "supervisor/stop_handler.h"

#include <signal.h>

#include <utility>
#include <variant>

#include "supervisor/instruments/detach.h"
#include "supervisor/instruments/sigtrap_mask.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/sampling_stop.h"

namespace sp::supervisor {

void StopHandler::on_stop(Tracee& tracee, const WaitStatus& status) {
  const bool is_first = std::exchange(tracee.is_new, false);
  if (calls_.on_stop(tracee, status, [&] { resume(tracee, 0); })) {
    return;
  }
  if (tracee.process->code_state != nullptr && on_instrument_stop(tracee, status)) {
    return;
  }
  if (const auto* delivery = std::get_if<SignalDelivery>(&status)) {
    on_signal(tracee, delivery->signal);
  } else if (std::holds_alternative<GroupStop>(status)) {
    on_group_stop(tracee);
  } else if (std::holds_alternative<InterruptStop>(status)) {
    is_first ? on_first_stop(tracee) : on_interrupt_stop(tracee);
  } else if (const auto* event = std::get_if<EventStop>(&status)) {
    on_event(tracee, event->event);
  }
}

bool StopHandler::on_instrument_stop(Tracee& tracee, const WaitStatus& status) {
  Instrument& instrument = *parts_.instrument;
  const auto* delivery = std::get_if<SignalDelivery>(&status);
  const bool is_trap = delivery != nullptr && delivery->signal == SIGTRAP;
  const bool is_at_syscall = std::holds_alternative<AtSyscall>(status);
  if (std::exchange(tracee.stops_again, false)) {
    (void)ptrace::interrupt(tracee.id.tid);  // it is in the group-stop again, whatever is done now
  }
  may_call_ = delivery != nullptr || std::holds_alternative<InterruptStop>(status);
  if (parts_.run.releasing) {
    instrument.on_other_stop(tracee);
    if (is_at_syscall) {
      instrument.on_syscall_to_detach(tracee);
    }
    // Detached in front of a call it would make it with a signal pending that is none. At an
    // interrupt stop the call can be made again.
    if (is_at_syscall && ptrace::interrupt(tracee.id.tid)) {
      tracee.is_awaited = true;
      let_run(tracee, 0, false);
      return true;
    }
    if ((is_trap &&
         (Instrument::on_retired_trap(tracee) || !instrument.may_deliver_trap(tracee))) ||
        is_at_syscall) {
      if (is_trap) {
        SyscallRepair::restart_call(tracee, 0);
      }
      resume(tracee, 0);  // a SIGSTOP of ours may be on its way
      return true;
    }
    return false;
  }
  if (is_trap && instrument.on_trap(tracee, parts_.run.reported_at)) {
    return true;
  }
  if (is_at_syscall) {
    instrument.on_syscall(tracee, parts_.run.reported_at);
    return true;
  }
  instrument.on_other_stop(tracee);
  bool is_kept = is_trap && !instrument.may_deliver_trap(tracee);
  if (may_call_ && !is_kept) {
    instrument.on_user_stop(tracee, delivery != nullptr ? UserStop::signal : UserStop::interrupt,
                            parts_.run.reported_at);
    is_kept = is_trap && !instrument.may_deliver_trap(tracee);  // from now on we stand in for it
  }
  if (is_kept) {
    SyscallRepair::restart_call(tracee, 0);
    resume(tracee, 0);
  }
  return is_kept;
}

void StopHandler::on_signal(Tracee& tracee, int signal) {
  if (signal == SIGSTOP && is_own_stop(tracee)) {
    sample_and_resume(tracee);
    return;
  }
  if ((signal == SIGINT || signal == SIGQUIT) && parts_.run.launched) {
    parts_.requests.on_target_interrupt();
  }
  parts_.crashes.on_delivery(tracee, signal);
  // A signal that the program ignores must not break its system calls either. After a group-stop
  // SIGCONT finds calls that were broken by the stop, and would have been without us.
  const bool was_broken = signal == SIGCONT && std::exchange(tracee.was_group_stopped, false);
  calls_.set_completes(!was_broken);
  if (!was_broken) {
    SyscallRepair::restart_call(tracee, signal);
  }
  resume(tracee, signal);
}

void StopHandler::on_group_stop(Tracee& tracee) {
  tracee.group_stopped = true;
  tracee.was_group_stopped = true;
  if (tracee.process->guard != nullptr) {
    tracee.process->guard->stopped_by_others = true;
    tracee.process->guard->minds_sigstop = true;
  }
  if (tracee.slot != nullptr) {
    SlotState idle = SlotState::idle;
    // A stop that was asked for stays pending until the process goes on; it is settled then.
    tracee.slot->state.compare_exchange_strong(idle, SlotState::not_sampled);
  }
  tracee.stops_again = parts_.instrument != nullptr && tracee.process->code_state != nullptr &&
                       !parts_.instrument->on_group_stop(tracee);
  (void)(tracee.stops_again ? ptrace::resume(tracee.id.tid, 0) : ptrace::listen(tracee.id.tid));
  if (tracee.id.tid == parts_.run.root) {
    parts_.requests.on_root_stopped();
  }
}

/// In front of its first instruction: no call is interrupted, and nobody has asked for the stop.
void StopHandler::on_first_stop(Tracee& tracee) {
  calls_.set_completes(false);
  resume(tracee, 0);
}

void StopHandler::on_interrupt_stop(Tracee& tracee) {
  if (std::exchange(tracee.group_stopped, false)) {
    end_group_stop(tracee);
    calls_.set_completes(false);
  }
  const bool asked = tracee.slot != nullptr && tracee.slot->state == SlotState::stop_pending &&
                     !tracee.slot->by_signal;
  if (asked || tracee.blocked_wait != 0) {
    sample_and_resume(tracee);
    return;
  }
  // Nobody asked: let go, or a second PTRACE_INTERRUPT reached it in the stop of the first. It may
  // have broken a system call all the same.
  SyscallRepair::restart_call(tracee, 0);
  resume(tracee, 0);
}

void StopHandler::sample_and_resume(Tracee& tracee) {
  const auto slot = tracee.slot;
  const bool wanted = slot != nullptr && slot->state == SlotState::stop_pending;
  if (wanted) {
    slot->has_come = true;
    look_for_sigcont_handler(*tracee.process, tracee.id.tid, parts_.run.reported_at);
  }
  const bool slept = tracee.blocked_wait != 0;
  const core::TimePoint reported_at = parts_.run.reported_at;
  const core::TimePoint asked_at{
      core::Duration{slot != nullptr ? slot->stop_requested_at.load() : 0}};
  const bool is_spoilt =
      wanted && parts_.instrument != nullptr && parts_.instrument->biases_sample(tracee, asked_at);
  const bool take = (wanted || slept) && tracee.process->profiled && !is_spoilt;
  core::Duration for_instrument{};
  if (take) {
    parts_.sampler.take(tracee, reported_at, wanted ? reported_at - asked_at : core::Duration{});
    calls_.set_completes(parts_.sampler.fell_on_system_call());
    if (wanted && tracee.process->code_state != nullptr && !parts_.run.releasing &&
        !is_woken_with_other_mask(tracee.id.tid)) {
      const core::TimePoint begin = core::Clock::now();
      parts_.instrument->on_sample(tracee);
      for_instrument = core::Clock::now() - begin;
    }
  } else {
    SyscallRepair::restart_call(tracee, 0);
  }
  let_run(tracee, 0, true);  // `tracee` may be gone now
  if (wanted) {
    // The instrument charges its own work, which is no part of what one more stop takes.
    parts_.meter.add(reported_at - asked_at,
                     core::Clock::now() - reported_at - for_instrument + parts_.timer.tick_cost());
    parts_.timer.sample_was_taken(parts_.sampler.fell_on_system_call(),
                                  parts_.sampler.found_it_asleep());
    SlotState asked = SlotState::stop_pending;
    const bool by_signal = slot->by_signal;  // once it is idle, it is the next stop's
    if (slot->state.compare_exchange_strong(asked, SlotState::idle) && by_signal) {
      --slot->guard->stops_in_flight;
    }
    slot->has_come = false;
  } else if (slept) {
    parts_.meter.add_woken(core::Clock::now() - reported_at);
  }
  if (take && !parts_.sampler.send_sample()) {
    parts_.timer.sample_was_dropped();
  }
}

void StopHandler::resume(Tracee& tracee, int signal) {
  // Detached with a SIGSTOP of ours on its way it would stop for good: that has to come first.
  // Only at the end is none being sent in this moment, so that what is pending tells.
  const bool is_asked = tracee.slot != nullptr && tracee.slot->by_signal &&
                        tracee.slot->state == SlotState::stop_pending;
  let_run(tracee, signal, !is_asked || (parts_.run.releasing && !stop_is_coming(tracee)));
}

void StopHandler::let_run(Tracee& tracee, int signal, bool may_detach) {
  // Any stop takes the place of a PTRACE_INTERRUPT that was on its way.
  tracee.blocked_wait = 0;
  if (tracee.slot != nullptr && !tracee.slot->by_signal) {
    SlotState asked = SlotState::stop_pending;
    tracee.slot->state.compare_exchange_strong(asked, SlotState::idle);
  }
  calls_.on_resume(tracee, signal);
  const bool detach = may_detach && (parts_.run.releasing || tracee.let_go);
  // ESRCH means that it was killed; its end is reported by itself.
  if (!detach && parts_.instrument != nullptr) {
    parts_.instrument->resume(tracee, signal);
    return;
  }
  if (!detach ||
      (parts_.instrument != nullptr && !parts_.instrument->make_detachable(tracee, may_call_))) {
    if (detach) {
      parts_.instrument->resume_to_detach(tracee, signal);
    } else {
      (void)ptrace::resume(tracee.id.tid, signal);
    }
    return;
  }
  calls_.forget(tracee, signal);
  if (ptrace::detach(tracee.id.tid, signal)) {
    parts_.lifecycle.remove_thread(tracee);
  }
}

void StopHandler::on_event(Tracee& tracee, Event event) {
  switch (event) {
    case Event::exec:
      on_exec(tracee);
      return;
    case Event::exit:
      on_exit_event(tracee);
      if (parts_.crashes.holds(tracee)) {
        return;
      }
      break;
    case Event::fork:
    case Event::vfork:
    case Event::clone:
      parts_.lifecycle.announce_task(tracee);
      if (parts_.run.releasing && has_memory_of_ours(*tracee.process) &&
          ptrace::interrupt(tracee.id.tid)) {
        tracee.is_awaited = true;  // nothing can be removed here: once more behind the call
        let_run(tracee, 0, false);
        return;
      }
      break;
    case Event::other:
      break;
  }
  resume(tracee, 0);
}

}  // namespace sp::supervisor
