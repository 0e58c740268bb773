// What a report of wait(2) means, and what is done about it: the other half of Supervisor.
#include <elf.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <utility>

#include "core/log.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/syscall_restart.h"
#include "supervisor/supervisor.h"

namespace sp::supervisor {

void Supervisor::on_report(const ptrace::Report& report) {
  const WaitStatus status = parse_wait_status(report.status);
  if (std::holds_alternative<NotAStop>(status)) {
    return;
  }
  if (std::holds_alternative<Exited>(status) || std::holds_alternative<Killed>(status)) {
    on_end(report.tid, status);
  } else {
    on_stop(report.tid, status);
  }
  // With nobody left there is nothing to wait for, but for the guardian, which waits for us.
  const bool target_gone = child_ ? root_end_.has_value() : true;
  over_ = over_ || (tracees_.empty() && target_gone && (!load_ || load_ended_));
}

void Supervisor::on_end(pid_t tid, const WaitStatus& status) {
  if (tid == guardian_.pid()) {
    // Without it a SIGKILL of ours could leave the target stopped: stop in the way that cannot.
    core::log_note("the guardian process was killed; sampling goes on with PTRACE_INTERRUPT");
    timer_.use_interrupts();
    return;
  }
  if (load_ && tid == load_->pid()) {
    load_ended_ = true;
    over_ = true;
    if (const int error = load_->exec_error(); error != 0) {
      exec_failure_ = {explain_exec_error(options_.command.front(), error),
                       status_of_exec_error(error)};
    }
    return;
  }
  origins_.erase(tid);  // it may not have come as far as its first stop
  probed_origins_.erase(tid);
  if (Tracee* tracee = tracees_.find(tid)) {
    remove_tracee(*tracee);
  }
  if (tid != root_) {
    return;
  }
  root_end_ = status;
  // With a load beside it the run lasts as long as the load: it is the user's command.
  over_ = !load_ || load_ended_;
  if (child_ && !root_execed_) {
    const int error = child_->exec_error();
    exec_failure_ = {explain_exec_error(options_.command.front(), error),
                     status_of_exec_error(error)};
  }
}

void Supervisor::on_stop(pid_t tid, const WaitStatus& status) {
  Tracee* tracee = tracees_.find(tid);
  if (tracee == nullptr && child_ && tid == root_ && !root_execed_) {
    on_stop_before_exec(status);
    return;
  }
  if (tracee == nullptr) {
    tracee = adopt(tid);
  }
  if (tracee == nullptr) {
    (void)ptrace::resume(tid, 0);  // already dead, in all but name
    return;
  }
  if (tracee->process->counted != nullptr && on_exact_stop(*tracee, status)) {
    return;
  }
  if (tracee->process->probed != nullptr && on_probe_stop(*tracee, status)) {
    return;
  }
  if (const auto* delivery = std::get_if<SignalDelivery>(&status)) {
    on_signal(*tracee, delivery->signal);
  } else if (std::holds_alternative<GroupStop>(status)) {
    on_group_stop(*tracee);
  } else if (std::holds_alternative<InterruptStop>(status)) {
    on_interrupt_stop(*tracee);
  } else if (const auto* event = std::get_if<EventStop>(&status)) {
    on_event(*tracee, event->event);
  }
}

bool Supervisor::on_exact_stop(Tracee& tracee, const WaitStatus& status) {
  const bool runs_user_code_next = std::holds_alternative<SignalDelivery>(status) ||
                                   std::holds_alternative<InterruptStop>(status);
  const auto* delivery = std::get_if<SignalDelivery>(&status);
  at_syscall_ = !runs_user_code_next;
  if (releasing_) {
    exact_->on_other_stop(tracee);
    if (delivery != nullptr && delivery->signal == SIGTRAP && exact_->on_retired_trap(tracee)) {
      let_run(tracee, 0, true);
      return true;
    }
    if (std::holds_alternative<AtSyscall>(status)) {
      let_run(tracee, 0, true);
      return true;
    }
    return false;
  }
  if (delivery != nullptr && delivery->signal == SIGTRAP && exact_->on_trap(tracee, reported_at_)) {
    return true;
  }
  if (std::holds_alternative<AtSyscall>(status)) {
    exact_->on_syscall(tracee, reported_at_);
    return true;
  }
  exact_->on_other_stop(tracee);
  if (delivery != nullptr && delivery->signal == SIGTRAP && !exact_->may_have_trap(tracee)) {
    resume(tracee, 0);
    return true;
  }
  if (!tracee.counted.begun && runs_user_code_next) {
    (void)exact_->begin_thread(tracee, reported_at_);
  }
  return false;
}

bool Supervisor::on_probe_stop(Tracee& tracee, const WaitStatus& status) {
  const auto* delivery = std::get_if<SignalDelivery>(&status);
  const bool is_trap = delivery != nullptr && delivery->signal == SIGTRAP;
  at_syscall_ = delivery == nullptr && !std::holds_alternative<InterruptStop>(status);
  if (releasing_) {
    probes_->on_other_stop(tracee);
    if (is_trap && probes_->on_retired_trap(tracee)) {
      resume(tracee, 0);  // a SIGSTOP of ours may be on its way
      return true;
    }
    return false;
  }
  if (is_trap && probes_->on_trap(tracee, reported_at_)) {
    return true;
  }
  probes_->on_other_stop(tracee);
  if (std::holds_alternative<InterruptStop>(status) && tracee.process->from_start &&
      options_.timer.delay == core::Duration{}) {
    probes_->look_after(tracee, false);
  }
  return false;
}

/// Between fork and exec the child is still a copy of us, not the user's program.
void Supervisor::on_stop_before_exec(const WaitStatus& status) {
  const auto* event = std::get_if<EventStop>(&status);
  if (event != nullptr && event->event == Event::exec) {
    root_execed_ = true;
    const auto process = add_process(root_, {});
    process->profiled = !runs_32_bit_code(root_);
    if (!process->profiled) {
      core::log_note("'{}' is a 32-bit program: it runs, but is not profiled",
                     options_.command.front());
    }
    begin_program(root_, process);
  } else if (std::holds_alternative<GroupStop>(status)) {
    (void)ptrace::listen(root_);
  } else {
    const auto* signal = std::get_if<SignalDelivery>(&status);
    (void)ptrace::resume(root_, signal != nullptr ? signal->signal : 0);
  }
}

void Supervisor::on_signal(Tracee& tracee, int signal) {
  if (signal == SIGSTOP && is_own_stop(tracee)) {
    sample_and_resume(tracee);
    return;
  }
  if ((signal == SIGINT || signal == SIGQUIT) && child_) {
    target_saw_interrupt_ = reported_at_;
    if (interrupted_at_) {
      wakeup_.send();
    }
  }
  // A signal that the program ignores must not break its system calls either. After a group-stop
  // SIGCONT finds calls that were broken by the stop, and would have been without us.
  if (!(signal == SIGCONT && std::exchange(tracee.was_group_stopped, false))) {
    if (auto registers = ptrace::registers(tracee.id.tid)) {
      restart_interrupted_call(tracee.id.tid, *registers, signal);
    }
  }
  resume(tracee, signal);
}

bool Supervisor::is_own_stop(const Tracee& tracee) const {
  const auto info = ptrace::signal_info(tracee.id.tid);
  if (!info || info->si_code != SI_TKILL) {
    return false;
  }
  // A process in a pid namespace of its own sees its tracer as pid 0.
  const bool expected = tracee.slot != nullptr && tracee.slot->state == SlotState::stop_pending;
  return info->si_pid == ::getpid() || (info->si_pid == 0 && expected);
}

void Supervisor::on_group_stop(Tracee& tracee) {
  tracee.group_stopped = true;
  tracee.was_group_stopped = true;
  if (tracee.process->guard != nullptr) {
    tracee.process->guard->stopped_by_others = true;
  }
  if (tracee.slot != nullptr) {
    SlotState idle = SlotState::idle;
    // A stop that was asked for stays pending until the process goes on; it is settled then.
    tracee.slot->state.compare_exchange_strong(idle, SlotState::not_sampled);
  }
  (void)ptrace::listen(tracee.id.tid);
  if (tracee.id.tid == root_ && user_requests_.suspend) {
    wakeup_.send();
  }
}

void Supervisor::on_interrupt_stop(Tracee& tracee) {
  if (std::exchange(tracee.group_stopped, false)) {
    if (tracee.process->guard != nullptr) {
      tracee.process->guard->stopped_by_others = false;
    }
    if (tracee.slot != nullptr) {
      SlotState left = SlotState::not_sampled;
      tracee.slot->state.compare_exchange_strong(left, SlotState::idle);
    }
  }
  const bool asked = tracee.slot != nullptr && tracee.slot->state == SlotState::stop_pending &&
                     !tracee.slot->by_signal;
  if (asked || tracee.blocked_wait != 0) {
    sample_and_resume(tracee);
    return;
  }
  // Nobody asked: let go, or a second PTRACE_INTERRUPT reached it in the stop of the first. It may
  // have broken a system call all the same.
  if (auto registers = ptrace::registers(tracee.id.tid)) {
    restart_interrupted_call(tracee.id.tid, *registers, 0);
  }
  resume(tracee, 0);
}

void Supervisor::sample_and_resume(Tracee& tracee) {
  const auto slot = tracee.slot;
  const bool wanted = slot != nullptr && slot->state == SlotState::stop_pending;
  const bool slept = tracee.blocked_wait != 0;
  const core::TimePoint stop_requested_at{
      core::Duration{slot != nullptr ? slot->stop_requested_at.load() : 0}};
  // Asked for in a stop at a probe it would show what comes behind that.
  const bool is_of_hit = wanted && stop_requested_at >= tracee.probed.last_hit.begin &&
                         stop_requested_at <= tracee.probed.last_hit.end;
  const bool take = (wanted || slept) && tracee.process->profiled && !is_of_hit;
  core::Duration for_probes{};
  if (take) {
    sampler_.take(tracee, reported_at_,
                  wanted ? reported_at_ - stop_requested_at : core::Duration{});
    if (wanted && tracee.process->probed != nullptr && !releasing_) {
      const core::TimePoint begin = core::Clock::now();
      probes_->look_after(tracee, true);
      for_probes = core::Clock::now() - begin;
    }
  } else if (auto registers = ptrace::registers(tracee.id.tid)) {
    restart_interrupted_call(tracee.id.tid, *registers, 0);
  }
  let_run(tracee, 0, true);  // `tracee` may be gone now
  if (wanted) {
    // What is done for the probes is charged there, and is no part of what one more stop takes.
    meter_.add(reported_at_ - stop_requested_at,
               core::Clock::now() - reported_at_ - for_probes + timer_.tick_cost());
    timer_.sample_was_taken(sampler_.fell_on_system_call(), sampler_.found_it_asleep());
    SlotState asked = SlotState::stop_pending;
    if (slot->state.compare_exchange_strong(asked, SlotState::idle) && slot->by_signal) {
      --slot->guard->stops_in_flight;
    }
  } else if (slept) {
    meter_.add_woken(core::Clock::now() - reported_at_);
  }
  if (take && !sampler_.send_sample()) {
    timer_.sample_was_dropped();
  }
}

void Supervisor::resume(Tracee& tracee, int signal) {
  // Detached with a SIGSTOP of ours on its way it would stop for good: that has to come first.
  const bool stop_is_coming = tracee.slot != nullptr && tracee.slot->by_signal &&
                              tracee.slot->state == SlotState::stop_pending;
  let_run(tracee, signal, !stop_is_coming);
}

void Supervisor::let_run(Tracee& tracee, int signal, bool may_detach) {
  // Any stop takes the place of a PTRACE_INTERRUPT that was on its way.
  tracee.blocked_wait = 0;
  if (tracee.slot != nullptr && !tracee.slot->by_signal) {
    SlotState asked = SlotState::stop_pending;
    tracee.slot->state.compare_exchange_strong(asked, SlotState::idle);
  }
  const bool detach = may_detach && (releasing_ || tracee.let_go);
  // ESRCH means that it was killed; its end is reported by itself.
  if (!detach && exact_) {
    exact_->resume(tracee, signal);
    return;
  }
  if (!detach && probes_) {
    probes_->resume(tracee, signal);
    return;
  }
  if (!detach || !make_detachable(tracee)) {
    (void)ptrace::resume(tracee.id.tid, signal);
    return;
  }
  if (ptrace::detach(tracee.id.tid, signal)) {
    remove_tracee(tracee);
  }
}

bool Supervisor::make_detachable(Tracee& tracee) {
  if (exact_) {
    return exact_->make_detachable(tracee, at_syscall_);
  }
  return !probes_ || probes_->make_detachable(tracee, !at_syscall_);
}

void Supervisor::on_event(Tracee& tracee, Event event) {
  switch (event) {
    case Event::exec:
      on_exec(tracee);
      return;
    case Event::exit:
      on_exit_event(tracee);
      break;
    case Event::fork:
    case Event::vfork:
    case Event::clone:
      on_forked(tracee);  // the new task comes to us by itself, with a stop of its own
      if (releasing_ && has_something_of_ours(*tracee.process) &&
          ptrace::interrupt(tracee.id.tid)) {
        tracee.is_awaited = true;  // nothing can be taken out here: once more behind the call
        let_run(tracee, 0, false);
        return;
      }
      break;
    case Event::other:
      break;
  }
  resume(tracee, 0);
}

void Supervisor::on_exec(Tracee& tracee) {
  const pid_t pid = tracee.id.tid;
  const auto former = ptrace::event_message(pid);
  // The thread that called exec has become the leader; every other thread is dead. A SIGSTOP that
  // was on its way to it still is.
  Tracee* caller = &tracee;
  if (former && static_cast<pid_t>(*former) != pid) {
    caller = tracees_.find(static_cast<pid_t>(*former));
  }
  const bool in_flight = caller != nullptr && caller->slot != nullptr &&
                         caller->slot->state == SlotState::stop_pending && caller->slot->by_signal;
  const auto before = tracee.process;
  if (before->counted != nullptr && before->counted->owner() == before->id) {
    exact_->send_counts(*before, tracee.id);
  }
  if (before->probed != nullptr && before->probed->owner() == before->id) {
    probes_->send_counts(*before, tracee.id);
  }
  if (caller != nullptr && caller != &tracee) {
    remove_tracee(*caller);
  }
  remove_tracee(tracee);
  const auto process = exec_process(before);
  process->profiled = options_.follow_exec && before->followed && !runs_32_bit_code(pid);
  begin_program(pid, process, in_flight);
  over_ = over_ || (pid == root_ && !options_.follow_exec);
}

void Supervisor::begin_program(pid_t pid, const std::shared_ptr<TracedProcess>& process,
                               bool stop_in_flight) {
  Tracee& tracee = add_tracee(pid, pid, process);
  if (stop_in_flight && process->guard != nullptr) {
    if (tracee.slot == nullptr) {
      tracee.slot = std::make_shared<SampleSlot>(process->id, tracee.id);  // for this stop alone
      tracee.slot->guard = process->guard;
    }
    tracee.slot->by_signal = true;
    // Only from here on: the exec itself is no cost of ours.
    tracee.slot->stop_requested_at = core::Clock::now().time_since_epoch().count();
    ++tracee.slot->guard->stops_in_flight;
    tracee.slot->state = SlotState::stop_pending;
  }
  if (process->profiled && exact_) {
    exact_->begin_process(*process, pid);
    (void)ptrace::interrupt(pid);  // stops before the program's first instruction
  } else if (process->profiled) {
    sampler_.send_maps(*process, tracee.id, core::Clock::now());
    if (probes_) {
      probes_->begin_process(*process, pid, true);
      (void)ptrace::interrupt(pid);
    }
  } else {
    tracee.let_go = true;
  }
  resume(tracee, 0);
}

void Supervisor::on_exit_event(Tracee& tracee) {
  TracedProcess& process = *tracee.process;
  ++process.exiting;
  tracee.last_name = read_name(process.id.pid, tracee.id.tid);
  if (tracee.slot != nullptr) {
    end_pending_stop(*tracee.slot, SlotState::not_sampled);
  }
  // Where no sample came nobody has looked since before its libraries did, to which code returns.
  const bool has_old_maps =
      process.samples_since_maps > 0 ||
      (process.probed != nullptr && process.from_start && process.samples == 0);
  if (process.exiting >= process.threads && has_old_maps) {
    sampler_.send_maps(process, tracee.id, core::Clock::now());
  }
}

}  // namespace sp::supervisor
