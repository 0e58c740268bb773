// How threads are let go at the end of a run: a part of Supervisor.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <utility>

#include "arch/native.h"
#include "core/log.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/supervisor.h"

namespace sp::supervisor {
namespace {

/// How long a thread may take to come to the stop in which it is put right. On a busy machine it
/// waits for a CPU first.
constexpr core::Duration kDetachGrace = std::chrono::seconds(10);

}  // namespace

bool Supervisor::has_something_of_ours(const TracedProcess& process) {
  const auto has_page = [](const auto& code) {
    return code != nullptr && code->rescue().page != core::Address{};
  };
  return has_page(process.counted) || has_page(process.probed);
}

void Supervisor::begin_release() {
  if (releasing_) {
    return;
  }
  timer_.pause();
  releasing_ = true;
  tell_names();
  send_all_counts();
  for (auto& [tid, tracee] : tracees_.all()) {
    if (exact_) {
      exact_->restore(*tracee.process);
    } else if (probes_) {
      probes_->restore(*tracee.process);
    }
  }
  std::set<const TracedProcess*> in_need;
  for (const auto& [tid, tracee] : tracees_.all()) {
    if (has_something_of_ours(*tracee.process)) {
      in_need.insert(tracee.process.get());
    }
  }
  for (auto& [tid, tracee] : tracees_.all()) {
    // Asked-for stops come by themselves. Others that run are stopped once, to be detached; who
    // sleeps is left alone and let go by the kernel at our end.
    if (tracee.slot != nullptr && tracee.slot->state == SlotState::asked) {
      in_need.erase(tracee.process.get());
      continue;
    }
    const auto stat = read_stat(tid);
    if (stat && stat->state == 'R' && !tracee.group_stopped) {
      (void)ptrace::interrupt(tid);
      in_need.erase(tracee.process.get());
    }
  }
  wake_one_of_each(in_need);
}

/// Processes that all sleep have something of ours in them, which one of their threads has to take
/// out: one in a call that goes on as if nothing had happened.
void Supervisor::wake_one_of_each(std::set<const TracedProcess*> processes) {
  constexpr auto kGoesOn =
      std::to_array<std::string_view>({"nanosleep", "clock_nanosleep", "wait4", "waitid", "pause",
                                       "rt_sigsuspend", "restart_syscall"});
  for (auto& [tid, tracee] : tracees_.all()) {
    if (!processes.contains(tracee.process.get()) || tracee.group_stopped) {
      continue;
    }
    const auto text = read_proc(fmt::format("/proc/{}/syscall", tid));
    const auto call = text ? parse_syscall(*text) : std::nullopt;
    const std::string_view name =
        call ? arch::Native::syscall_name(call->number) : std::string_view{};
    if (call && (arch::Native::is_restartable(call->number) ||
                 std::find(kGoesOn.begin(), kGoesOn.end(), name) != kGoesOn.end())) {
      tracee.is_awaited = ptrace::interrupt(tid).has_value();
      processes.erase(tracee.process.get());
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
  for (const auto& [tid, tracee] : tracees_.all()) {
    if (tracee.process->counted != nullptr) {
      exact_->send_counts(*tracee.process, tracee.id);  // nothing the second time
    }
    if (tracee.process->probed != nullptr) {
      probes_->send_counts(*tracee.process, tracee.id);
    }
  }
}

/// The breakpoints are gone, but who has run into one must be put right before we end.
void Supervisor::wait_for_detaching() {
  const core::TimePoint deadline = core::Clock::now() + kDetachGrace;
  const auto is_busy = [](const auto& entry) {
    const auto stat = read_stat(entry.first);
    return stat && !entry.second.group_stopped &&
           (stat->state == 'R' || stat->state == 't' || entry.second.is_awaited);
  };
  const auto somebody_is_to_come = [this] { return !origins_.empty() || !probed_origins_.empty(); };
  while (core::Clock::now() < deadline &&
         (somebody_is_to_come() ||
          std::any_of(tracees_.all().begin(), tracees_.all().end(), is_busy))) {
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
