// What the user and the analyzer ask for while a run goes on: a part of Supervisor.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <variant>

#include "core/log.h"
#include "supervisor/supervisor.h"

namespace sp::supervisor {
namespace {

using std::chrono::milliseconds;

/// How long after an interrupt of ours the target may take to show that it got one too.
constexpr core::Duration kInterruptGrace = milliseconds(300);
constexpr core::Duration kSuspendGrace = milliseconds(300);

}  // namespace

void Supervisor::serve_wishes() {
  if (wishes_.snapshots.exchange(0) > 0 && !releasing_) {
    tell_names();
    send_all_counts();
    outbox_.deliver({{}, {}, core::Clock::now(), core::SnapshotWanted{}});
  }
  if (wishes_.interrupts_wanted.exchange(false)) {
    interrupt_wanted_slots();
  }
  if (wishes_.requests.exchange(false)) {
    serve_requests();
  }
  if (wishes_.time_is_up) {
    over_ = true;
  }
  if (wishes_.terminate && !interrupted_at_) {
    // Sent to the whole process group it ends the target too: give that a moment to show.
    interrupted_at_ = core::Clock::now();
    wishes_.heartbeat = true;
  }
  serve_interrupts();
  if (wishes_.suspend) {
    suspend_with_target();
  }
}

void Supervisor::serve_interrupts() {
  const int interrupts = wishes_.interrupts;
  if (interrupts > interrupts_served_) {
    interrupts_served_ = interrupts;
    if (!child_ || interrupts > 1) {
      over_ = true;
      return;
    }
    interrupted_at_ = core::Clock::now();
    wishes_.heartbeat = true;
  }
  if (!interrupted_at_ || waits_for_target_) {
    return;
  }
  if (!child_) {
    over_ = true;
    return;
  }
  if (!wishes_.terminate && target_saw_interrupt_ + kInterruptGrace > *interrupted_at_) {
    // Ctrl-C in a terminal: the target has it too and decides; we wait for it and then write.
    waits_for_target_ = true;
    wishes_.heartbeat = false;
    core::log_detail("interrupted: waiting for the target to end; once more detaches");
    return;
  }
  if (core::Clock::now() > *interrupted_at_ + kInterruptGrace) {
    over_ = true;  // it was meant for us alone: let the target go and write
  }
}

void Supervisor::serve_requests() {
  while (const auto request = requests_.try_pop()) {
    if (const auto* deeper = std::get_if<core::LargerStackDump>(&*request)) {
      constexpr std::size_t kDeepest = std::size_t{1} << 20U;
      Tracee* tracee = tracees_.find(deeper->thread.tid);
      if (tracee != nullptr && tracee->id == deeper->thread) {
        tracee->stack_bytes = std::min(tracee->stack_bytes * 2, kDeepest);
      }
    } else if (const auto* blocked = std::get_if<core::StopBlocked>(&*request)) {
      Tracee* tracee = tracees_.find(blocked->thread.tid);
      if (tracee != nullptr && tracee->id == blocked->thread && tracee->slot != nullptr &&
          tracee->slot->state == SlotState::idle && !releasing_) {
        tracee->blocked_wait = blocked->wait_id;
        tracee->slot->scheduled_by_us = true;
        (void)ptrace::interrupt(tracee->id.tid);
      }
    } else if (const auto* wanted = std::get_if<core::ProbeFunctions>(&*request)) {
      const auto process = tracees_.find_process(wanted->process.pid);
      if (probes_ && process != nullptr && process->id == wanted->process && !releasing_) {
        probes_->serve(*wanted, *process);
      }
    }
  }
}

void Supervisor::suspend_with_target() {
  const core::TimePoint now = core::Clock::now();
  if (!child_) {
    wishes_.suspend = false;
    core::log_note("not stopping: the target would hang with us; Ctrl-C detaches");
    return;
  }
  if (!suspend_asked_at_) {
    suspend_asked_at_ = now;
    wishes_.heartbeat = true;
  }
  const Tracee* root = tracees_.find(root_);
  const bool stopped = root != nullptr && root->group_stopped;
  if (!stopped && now < *suspend_asked_at_ + kSuspendGrace) {
    return;  // looked at again when the bell rings
  }
  suspend_asked_at_.reset();
  wishes_.suspend = false;
  wishes_.heartbeat = interrupted_at_.has_value() && !waits_for_target_;
  if (stopped) {
    // The shell waits for us, not for the target: it must see a stopped job.
    ::kill(::getpid(), SIGSTOP);
  }
}

void Supervisor::interrupt_wanted_slots() {
  for (const auto& slot : timer_.take_interrupts()) {
    const Tracee* tracee = tracees_.find(slot->thread.tid);
    slot->asked_at = core::Clock::now().time_since_epoch().count();
    if (tracee == nullptr || tracee->slot != slot || !ptrace::interrupt(slot->thread.tid)) {
      settle(*slot, SlotState::idle);
    }
  }
}

}  // namespace sp::supervisor
