// How threads are let go at the end of a run: a part of Supervisor.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "core/log.h"
#include "supervisor/proc_files.h"
#include "supervisor/supervisor.h"

namespace sp::supervisor {
namespace {

/// How long a thread may take to come to the stop in which it is put right. On a busy machine it
/// waits for a CPU first.
constexpr core::Duration kDetachGrace = std::chrono::seconds(10);

}  // namespace

void Supervisor::begin_release() {
  if (releasing_) {
    return;
  }
  timer_.pause();
  releasing_ = true;
  tell_names();
  if (exact_) {
    send_all_counts();
    for (auto& [tid, tracee] : tracees_.all()) {
      exact_->restore(*tracee.process);
    }
  }
  for (auto& [tid, tracee] : tracees_.all()) {
    // Asked-for stops come by themselves. Others that run are stopped once, to be detached; who
    // sleeps is left alone and let go by the kernel at our end.
    if (tracee.slot != nullptr && tracee.slot->state == SlotState::asked) {
      continue;
    }
    const auto stat = read_stat(tid);
    if (stat && stat->state == 'R' && !tracee.group_stopped) {
      (void)ptrace::interrupt(tid);
    }
  }
}

/// Threads mostly name themselves after they have started.
void Supervisor::tell_names() {
  for (const auto& [tid, tracee] : tracees_.all()) {
    outbox_.deliver({tracee.process->id, tracee.id, core::Clock::now(),
                     core::ThreadStarted{read_name(tracee.process->id.pid, tid)}});
  }
}

void Supervisor::send_all_counts() {
  if (!exact_) {
    return;
  }
  for (const auto& [tid, tracee] : tracees_.all()) {
    if (tracee.process->counted != nullptr) {
      exact_->send_counts(*tracee.process, tracee.id);  // nothing the second time
    }
  }
}

/// The breakpoints are gone, but who has run into one must be put right before we end.
void Supervisor::wait_for_detaching() {
  const core::TimePoint deadline = core::Clock::now() + kDetachGrace;
  const auto is_busy = [](const auto& entry) {
    const auto stat = read_stat(entry.first);
    return stat && (stat->state == 'R' || stat->state == 't') && !entry.second.group_stopped;
  };
  while (core::Clock::now() < deadline &&
         std::any_of(tracees_.all().begin(), tracees_.all().end(), is_busy)) {
    one_round(true);
  }
}

bool Supervisor::stops_in_flight() const {
  SampleSlots::List slots;
  std::uint64_t version = 0;
  slots_.refresh(slots, version);
  return std::any_of(slots.begin(), slots.end(),
                     [](const auto& slot) { return slot->state == SlotState::asked; });
}

void Supervisor::cancel_stops_in_flight() {
  SampleSlots::List slots;
  std::uint64_t version = 0;
  slots_.refresh(slots, version);
  for (const auto& slot : slots) {
    if (slot->state != SlotState::asked || !slot->by_signal) {
      continue;
    }
    // The thread sits where no signal reaches it (vfork, a hung disk). A SIGSTOP that is still
    // pending is taken back by generating SIGCONT, signal(7).
    if (!slot->guard->stopped_by_others) {
      ::kill(slot->process.pid, SIGCONT);
    }
    settle(*slot, SlotState::not_sampled);
  }
}

}  // namespace sp::supervisor
