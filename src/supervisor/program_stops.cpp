#include <memory>
#include <utility>

#include "supervisor/linux/ptrace.h"
#include "supervisor/sampling_stop.h"
#include "supervisor/stop_handler.h"

// Stops at which a program begins or ends.
namespace sp::supervisor {

void StopHandler::on_exec(Tracee& tracee) {
  const pid_t pid = tracee.id.tid;
  const auto former = ptrace::event_message(pid);
  // The thread that called exec has become the leader; every other thread is dead. A SIGSTOP that
  // was on its way to it still is.
  Tracee* caller = &tracee;
  if (former && static_cast<pid_t>(*former) != pid) {
    caller = parts_.lifecycle.tracees().find(static_cast<pid_t>(*former));
  }
  const bool stop_is_pending = caller != nullptr && caller->slot != nullptr &&
                               caller->slot->state == SlotState::stop_pending &&
                               caller->slot->by_signal;
  const auto before = tracee.process;
  if (before->code_state != nullptr) {
    parts_.instrument->before_exec(caller != nullptr ? *caller : tracee, pid);
  }
  parts_.lifecycle.flush_own(*before, tracee.id);
  if (caller != nullptr && caller != &tracee) {
    parts_.lifecycle.remove_thread(*caller);
  }
  parts_.lifecycle.remove_thread(tracee);
  const auto process = parts_.lifecycle.exec_process(before);
  process->ignores_sigtrap = before->ignores_sigtrap;
  process->profiled = follow_exec_ && before->followed && !ptrace::runs_32_bit_code(pid) &&
                      !parts_.lifecycle.has_no_files();
  begin_program(pid, process, stop_is_pending);
  parts_.run.roots.become_process(pid);
  if (!follow_exec_ && parts_.run.roots.end_process(pid)) {
    parts_.run.over = true;
  }
}

void StopHandler::begin_program(pid_t pid, const std::shared_ptr<TracedProcess>& process,
                                bool stop_is_pending) {
  Tracee& tracee = parts_.lifecycle.add_thread(pid, pid, process);
  if (stop_is_pending && process->guard != nullptr) {
    carry_over_stop(tracee, *process);
  }
  if (process->profiled) {
    const bool counts_all = parts_.instrument != nullptr && parts_.instrument->needs().every_thread;
    if (parts_.instrument != nullptr) {
      parts_.instrument->begin_process(*process, pid, true);
      parts_.lifecycle.note_begun(*process);
    }
    // Others send their maps with their first sample, which most processes do not live to see.
    if (!counts_all && (process->from_start || parts_.run.roots.has_process(pid))) {
      parts_.sampler.send_maps(*process, tracee.id, core::Clock::now());
    }
    if (counts_all || process->from_start) {
      (void)ptrace::interrupt(pid);  // stops before the program's first instruction
    }
  } else {
    tracee.let_go = true;
  }
  resume(tracee, 0);
}

void StopHandler::on_exit_event(Tracee& tracee) {
  TracedProcess& process = *tracee.process;
  ++process.exiting;
  parts_.lifecycle.begin_exit(tracee);
  if (tracee.slot != nullptr) {
    parts_.timer.add_target_cpu(process.cpu->take());
    end_pending_stop(*tracee.slot, SlotState::not_sampled);
  }
  const bool has_old_maps =
      process.samples_since_maps > 0 ||
      (parts_.instrument != nullptr && parts_.instrument->wants_last_maps(process));
  if (process.exiting >= process.threads && has_old_maps) {
    parts_.sampler.send_maps(process, tracee.id, core::Clock::now());
  }
}

}  // namespace sp::supervisor
