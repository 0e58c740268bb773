#include "supervisor/requests.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <variant>

#include "core/log.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/syscall_repair.h"

namespace sp::supervisor {
namespace {

using std::chrono::milliseconds;

/// How long the target may take to show that it got an interrupt that we got.
constexpr core::Duration kInterruptGrace = milliseconds(300);
constexpr core::Duration kSuspendGrace = milliseconds(300);

}  // namespace

void RequestServer::serve() {
  if (parts_.user.snapshots.exchange(0) > 0 && !parts_.run.releasing) {
    parts_.lifecycle.tell_names();
    parts_.lifecycle.flush_all();
    parts_.outbox.deliver({{}, {}, core::Clock::now(), core::SnapshotWanted{}});
  }
  if (parts_.user.interrupts_wanted.exchange(false)) {
    interrupt_slots();
  }
  if (parts_.user.requests.exchange(false)) {
    serve_analyzer();
  }
  serve_trace();
  serve_user();
}

void RequestServer::serve_trace() {
  for (const core::TraceRequest& request : parts_.trace.take()) {
    if (parts_.run.releasing) {
      continue;  // everything is written anyhow
    }
    if (request.action == core::TraceAction::stop) {
      parts_.run.over = true;
    } else if (parts_.instrument != nullptr) {
      parts_.instrument->serve(request);
    }
    if (request.action == core::TraceAction::flush || request.action == core::TraceAction::clear) {
      if (request.ticket != 0) {
        parts_.lifecycle.tell_names();
      }
      parts_.outbox.deliver({{}, {}, core::Clock::now(), request});
    }
    parts_.trace.note_served(std::max(request.ticket, parts_.trace.served()));
  }
}

void RequestServer::serve_user() {
  if (parts_.user.time_is_up) {
    parts_.run.over = true;
  }
  if (parts_.user.terminate && !interrupted_at_) {
    // Sent to the whole process group it ends the target, too: give that a moment to show.
    interrupted_at_ = core::Clock::now();
    parts_.user.heartbeat = true;
  }
  serve_interrupts();
  if (parts_.user.suspend) {
    suspend();
  }
}

void RequestServer::serve_interrupts() {
  const int interrupts = parts_.user.interrupts;
  if (interrupts > interrupts_served_) {
    interrupts_served_ = interrupts;
    if (!parts_.run.launched || interrupts > 1) {
      parts_.run.over = true;
      return;
    }
    interrupted_at_ = core::Clock::now();
    parts_.user.heartbeat = true;
  }
  if (!interrupted_at_ || waits_for_target_) {
    return;
  }
  if (!parts_.run.launched) {
    parts_.run.over = true;
    return;
  }
  if (!parts_.user.terminate && target_saw_interrupt_ + kInterruptGrace > *interrupted_at_) {
    // Ctrl-C in a terminal: the target has it, too, and decides; we wait for it and then write.
    waits_for_target_ = true;
    parts_.user.heartbeat = false;
    core::log_detail("interrupted: waiting for the target to end; once more detaches");
    return;
  }
  if (core::Clock::now() > *interrupted_at_ + kInterruptGrace) {
    parts_.run.over = true;  // it was meant for us alone: let the target go and write
  }
}

void RequestServer::on_target_interrupt() {
  target_saw_interrupt_ = parts_.run.reported_at;
  if (interrupted_at_) {
    parts_.wakeup.send();
  }
}

void RequestServer::on_root_stopped() {
  if (parts_.user.suspend) {
    parts_.wakeup.send();
  }
}

void RequestServer::serve_analyzer() {
  while (const auto request = parts_.analyzer.try_pop()) {
    std::visit([this](const auto& one) { serve(one); }, *request);
  }
}

void RequestServer::serve(const core::LargerStackDump& request) {
  constexpr std::size_t kDeepest = std::size_t{1} << 20U;
  Tracee* const tracee = parts_.lifecycle.tracees().find(request.thread.tid);
  if (tracee != nullptr && tracee->id == request.thread) {
    tracee->stack_bytes = std::min(tracee->stack_bytes * 2, kDeepest);
  }
}

void RequestServer::serve(const core::StopBlocked& request) {
  Tracee* const tracee = parts_.lifecycle.tracees().find(request.thread.tid);
  if (tracee != nullptr && tracee->id == request.thread && tracee->slot != nullptr &&
      tracee->slot->state == SlotState::idle && !parts_.run.releasing) {
    tracee->blocked_wait = request.wait_id;
    tracee->slot->scheduled_by_us = true;
    (void)SyscallRepair::interrupt(*tracee);
  }
}

void RequestServer::serve(const core::ProbeFunctions& request) {
  const auto process = parts_.lifecycle.tracees().find_process(request.process.pid);
  if (parts_.instrument != nullptr && process != nullptr && process->id == request.process &&
      !parts_.run.releasing) {
    parts_.instrument->serve(request, *process);
  }
}

void RequestServer::suspend() {
  const core::TimePoint now = core::Clock::now();
  if (!parts_.run.launched) {
    parts_.user.suspend = false;
    core::log_note("not stopping: the target would hang with us; Ctrl-C detaches");
    return;
  }
  if (!suspend_asked_at_) {
    suspend_asked_at_ = now;
    parts_.user.heartbeat = true;
  }
  const auto& tracees = parts_.lifecycle.tracees().all();
  const Tracee* const root = parts_.lifecycle.tracees().find(parts_.run.root);
  const bool stopped = root != nullptr && root->group_stopped;
  const bool all_stopped =
      stopped && std::none_of(tracees.begin(), tracees.end(), [](const auto& entry) {
        const auto stat = entry.second.group_stopped ? std::nullopt : read_stat(entry.first);
        return stat && stat->state != 'Z' && stat->state != 'X';
      });
  if (!all_stopped && now < *suspend_asked_at_ + kSuspendGrace) {
    return;  // looked at again at the next wake-up
  }
  suspend_asked_at_.reset();
  parts_.user.suspend = false;
  parts_.user.heartbeat = interrupted_at_.has_value() && !waits_for_target_;
  if (all_stopped) {
    // The shell waits for us, not for the target: it must see a stopped job.
    ::kill(::getpid(), SIGSTOP);
  } else if (stopped) {
    core::log_note("not stopping: traced processes that do not stop would hang with us");
    ::kill(0, SIGCONT);  // our process group, which is the target's
  }
}

void RequestServer::interrupt_slots() {
  for (const auto& slot : parts_.timer.take_interrupts()) {
    Tracee* const tracee = parts_.lifecycle.tracees().find(slot->thread.tid);
    if (tracee != nullptr && tracee->slot == slot) {
      tracee->interrupted_call.look(tracee->id.tid);  // it may have fallen asleep
    }
    slot->stop_requested_at = core::Clock::now().time_since_epoch().count();
    if (tracee == nullptr || tracee->slot != slot || !ptrace::interrupt(slot->thread.tid)) {
      end_pending_stop(*slot, SlotState::idle);
    }
  }
}

}  // namespace sp::supervisor
