#include "supervisor/release.h"

#include <signal.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>

#include "arch/native.h"
#include "supervisor/instruments/detach.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/syscall_repair.h"
#include "supervisor/tracees/world_stop.h"

namespace sp::supervisor {
namespace {

/// How long a SIGSTOP of ours may be pending after the run before it is cancelled.
constexpr core::Duration kStopGrace = std::chrono::milliseconds(1000);
/// From then on a SIGSTOP of ours may have been discarded.
constexpr core::Duration kLateStop = std::chrono::milliseconds(10);
/// How long a thread may take to come to the stop in which it is put right. On a busy machine it
/// waits for a CPU first.
constexpr core::Duration kDetachGrace = std::chrono::seconds(10);
/// The same for a thread that no stop reaches where it is: behind a vfork, on a hung disk, in a
/// group-stop.
constexpr core::Duration kAsleepGrace = std::chrono::milliseconds(100);

/// Where a thread is on its way to a stop.
enum class Whereabouts : std::uint8_t { nowhere, asleep, under_way };

Whereabouts whereabouts_of(pid_t tid) {
  const auto stat = read_stat(tid);
  return !stat                                      ? Whereabouts::nowhere
         : stat->state == 'R' || stat->state == 't' ? Whereabouts::under_way
                                                    : Whereabouts::asleep;
}

/// The call goes on after a stop as if nothing had happened.
bool survives_stop(const BlockedCall& call) {
  constexpr auto kGoesOn =
      std::to_array<std::string_view>({"nanosleep", "clock_nanosleep", "wait4", "waitid", "pause",
                                       "rt_sigsuspend", "restart_syscall"});
  const std::string_view name = arch::Native::syscall_name(call.number);
  return arch::Native::is_restartable(call.number) ||
         std::find(kGoesOn.begin(), kGoesOn.end(), name) != kGoesOn.end();
}

}  // namespace

void Release::begin() {
  if (run_.releasing) {
    return;
  }
  timer_.pause();
  run_.releasing = true;
  lifecycle_.tell_names();
  stop_masked_threads();
  auto& tracees = lifecycle_.tracees().all();
  std::set<const TracedProcess*> in_need;
  for (const auto& [tid, tracee] : tracees) {
    if (instrument_ != nullptr) {
      instrument_->restore(*tracee.process);
    }
    if (has_memory_of_ours(*tracee.process)) {
      in_need.insert(tracee.process.get());
    }
  }
  lifecycle_.flush_all();  // with what is counted until the code is the original's
  for (auto& [tid, tracee] : tracees) {
    // Stops that were asked for come by themselves. Other threads that run are stopped once, to be
    // detached; those that sleep are left alone, and the kernel lets go of them when we exit.
    if (tracee.slot != nullptr && tracee.slot->state == SlotState::stop_pending) {
      in_need.erase(tracee.process.get());
      continue;
    }
    const auto stat = read_stat(tid);
    // Those that are in a stop already run afterwards: no sleeper is woken for their sake.
    const bool runs = stat && (stat->state == 'R' || stat->state == 't');
    if ((runs || is_frozen(tid)) && !tracee.group_stopped) {
      tracee.is_awaited = SyscallRepair::interrupt(tracee).has_value();
      in_need.erase(tracee.process.get());
    }
  }
  wake_one_of_each(std::move(in_need));
}

/// They get their masks back in that stop. Code that hides them is removed from here on: none may
/// look at its mask before. Who sleeps is stopped before it executes anything.
void Release::stop_masked_threads() {
  auto& tracees = lifecycle_.tracees().all();
  std::set<std::shared_ptr<TracedProcess>> processes;
  std::vector<Tracee*> masked;
  for (auto& [tid, tracee] : tracees) {
    if (instrument_ != nullptr && instrument_->has_other_mask(tracee) && !tracee.group_stopped) {
      processes.insert(tracee.process);
      masked.push_back(&tracee);
    }
  }
  for (const auto& process : processes) {
    (void)WorldStop::stop_most(lifecycle_.tracees(), *process, kLongestWorldStop);
  }
  for (Tracee* const tracee : masked) {
    tracee->is_awaited = SyscallRepair::interrupt(*tracee).has_value() || tracee->is_awaited;
  }
}

void Release::wake_one_of_each(std::set<const TracedProcess*> processes) {
  for (auto& [tid, tracee] : lifecycle_.tracees().all()) {
    if (!processes.contains(tracee.process.get()) || tracee.group_stopped) {
      continue;
    }
    const auto call = read_syscall(tid);
    if (call && survives_stop(*call)) {
      tracee.is_awaited = SyscallRepair::interrupt(tracee).has_value();
      processes.erase(tracee.process.get());
    }
  }
}

void Release::finish(const std::function<void()>& serve_one) {
  // Stops that are on their way must have come before the events end.
  const core::TimePoint begin = core::Clock::now();
  while (stops_are_pending(core::Clock::now() - begin)) {
    serve_one();
  }
  cancel_pending_stops();
  wait_for_detaching(serve_one);
}

void Release::wait_for_detaching(const std::function<void()>& serve_one) {
  const core::TimePoint begin = core::Clock::now();
  auto& tracees = lifecycle_.tracees().all();
  for (;;) {
    const core::Duration waited = core::Clock::now() - begin;
    const bool is_busy = std::any_of(tracees.begin(), tracees.end(),
                                     [&](auto& entry) { return is_awaited(entry.second, waited); });
    if (waited > kDetachGrace || (!is_busy && !lifecycle_.awaits_tasks())) {
      return;
    }
    serve_one();
  }
}

bool Release::is_awaited(Tracee& tracee, core::Duration waited) const {
  const Whereabouts where = whereabouts_of(tracee.id.tid);
  if (tracee.group_stopped || where == Whereabouts::nowhere) {
    return false;
  }
  // Without code of ours in it a thread that slept until now needs no stop.
  if (instrument_ != nullptr && where == Whereabouts::under_way && !tracee.is_awaited) {
    tracee.is_awaited = SyscallRepair::interrupt(tracee).has_value();
  }
  return tracee.is_awaited && (where == Whereabouts::under_way || waited < kAsleepGrace);
}

bool Release::stops_are_pending(core::Duration waited) const {
  SampleSlots::List slots;
  std::uint64_t version = 0;
  lifecycle_.slots().refresh(slots, version);
  return waited < kStopGrace && std::any_of(slots.begin(), slots.end(), [&](const auto& slot) {
           if (waited > kLateStop) {
             settle_discarded_stop(*slot);
           }
           return slot->state == SlotState::stop_pending &&
                  (waited < kAsleepGrace ||
                   whereabouts_of(slot->thread.tid) == Whereabouts::under_way);
         });
}

void Release::cancel_pending_stops() {
  SampleSlots::List slots;
  std::uint64_t version = 0;
  lifecycle_.slots().refresh(slots, version);
  for (const auto& slot : slots) {
    if (slot->state != SlotState::stop_pending || !slot->by_signal) {
      continue;
    }
    // The thread sits where no signal reaches it (vfork, a hung disk). A SIGSTOP that is still
    // pending is cancelled by generating SIGCONT, signal(7).
    if (!slot->guard->stopped_by_others) {
      ::kill(slot->process.pid, SIGCONT);
    }
    end_pending_stop(*slot, SlotState::not_sampled);
  }
}

}  // namespace sp::supervisor
