#include "supervisor/injection/remote_stops.h"

#include <linux/ptrace.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>

#include "arch/native.h"
#include "core/clock.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/target_memory.h"
#include "supervisor/linux/wait_status.h"

namespace sp::supervisor {
namespace {

using arch::NativeTrapHandler;

bool is_ours(const siginfo_t& info) {
  // At RLIMIT_SIGPENDING the kernel does not say who has sent it; mostly that was us.
  const bool is_from_nobody = info.si_code == SI_USER && info.si_pid == 0 && info.si_uid == 0;
  return info.si_signo == SIGSTOP &&
         (is_from_nobody ||
          (info.si_code == SI_TKILL && (info.si_pid == ::getpid() || info.si_pid == 0)));
}

/// Resumed from there, a leader whose threads live on would report nothing any more: with an exec
/// these are the ones that wait for us.
bool is_exiting(pid_t tid) {
  const auto info = ptrace::signal_info(tid);
  return info && (info->si_code >> 8) == PTRACE_EVENT_EXIT;
}

struct NextReport {
  std::optional<ptrace::Report> report;  // nothing: it is gone
  bool was_held = false;                 // it went on only when PTRACE_INTERRUPT was sent
};

/// Waits for the thread's next report, and leaves it to be waited for: its end, too. One that a
/// freezer holds is interrupted.
NextReport next_report(pid_t tid) {
  constexpr int kYields = 100;  // most stops come within microseconds
  constexpr core::Duration kPatience = std::chrono::milliseconds(10);
  constexpr timespec kPause{0, 100'000};
  NextReport next;
  core::TimePoint asked = core::Clock::now();
  for (int round = 0;; ++round) {
    const auto report = ptrace::look(tid);
    if (!report || *report) {
      next.report = report ? *report : std::nullopt;
      return next;
    }
    if (round < kYields) {
      ::sched_yield();
      continue;
    }
    (void)::ppoll(nullptr, 0, &kPause, nullptr);
    if (core::Clock::now() - asked > kPatience) {
      asked = core::Clock::now();
      next.was_held = next.was_held || (is_frozen(tid) && ptrace::interrupt(tid));
    }
  }
}

/// Waits for the thread's next stop.
StopReason wait_for_stop(pid_t tid, DeferredStop& deferred) {
  const auto [report, was_held] = next_report(tid);
  const WaitStatus status = report ? parse_wait_status(report->status) : WaitStatus{NotAStop{}};
  if (std::holds_alternative<Exited>(status) || std::holds_alternative<Killed>(status) ||
      std::holds_alternative<NotAStop>(status)) {
    return StopReason::end;
  }
  if (const auto call = ptrace::syscall_stop(tid)) {
    if (call->side == ptrace::SyscallStop::Side::entry) {
      return StopReason::call_entry;
    }
    if (call->side == ptrace::SyscallStop::Side::exit) {
      return StopReason::call_exit;
    }
  }
  if (std::holds_alternative<InterruptStop>(status) || std::holds_alternative<GroupStop>(status)) {
    deferred.of_others = deferred.of_others || std::holds_alternative<GroupStop>(status);
    return was_held ? StopReason::held : StopReason::interrupt;
  }
  const auto* const delivery = std::get_if<SignalDelivery>(&status);
  if (delivery != nullptr && delivery->signal == SIGSTOP) {
    const auto info = ptrace::signal_info(tid);
    const bool ours = info && is_ours(*info);
    deferred.ours = deferred.ours || ours;
    deferred.of_others = deferred.of_others || !ours;
    deferred.is_to_be_delivered = !ours;
  }
  return delivery != nullptr && delivery->signal == SIGTRAP ? StopReason::step
                                                            : StopReason::something_else;
}

constexpr int kTries = 100;

}  // namespace

bool run_to_call(pid_t tid, StopReason side, DeferredStop& deferred) {
  for (int i = 0; i < kTries && !is_exiting(tid); ++i) {
    if (!ptrace::resume_to_syscall(tid, deferred.take_signal())) {
      return false;
    }
    const StopReason reason = wait_for_stop(tid, deferred);
    if (reason == side || reason == StopReason::end || reason == StopReason::held) {
      return reason == side;
    }
  }
  return false;
}

bool run_to_interrupt(pid_t tid, DeferredStop& deferred) {
  for (int i = 0; i < kTries && !is_exiting(tid); ++i) {
    // Again each time: any other stop takes its place.
    if (!ptrace::interrupt(tid) || !ptrace::resume(tid, deferred.take_signal())) {
      return false;
    }
    const StopReason reason = wait_for_stop(tid, deferred);
    if (reason == StopReason::interrupt || reason == StopReason::held ||
        reason == StopReason::end) {
      return reason != StopReason::end;
    }
  }
  return false;
}

int signal_to_be_delivered(pid_t tid) {
  const auto info = ptrace::signal_info(tid);
  if (!info) {
    return SIGTRAP;
  }
  return (info->si_code >> 8) == PTRACE_EVENT_STOP || is_ours(*info) ? 0 : info->si_signo;
}

bool step_over_call(pid_t tid, const ptrace::Registers& at_call, DeferredStop& deferred) {
  for (int i = 0; i < kTries && !is_exiting(tid); ++i) {
    if (!ptrace::set_registers(tid, at_call) || !ptrace::step(tid, deferred.take_signal())) {
      return false;
    }
    const StopReason reason = wait_for_stop(tid, deferred);
    if (reason == StopReason::step || reason == StopReason::end || reason == StopReason::held) {
      return reason == StopReason::step;
    }
  }
  return false;
}

bool stands_before_call(pid_t tid, const ptrace::Registers& registers) {
  std::array<std::byte, NativeTrapHandler::kSyscall.size()> next{};
  return TargetMemory(tid).read(arch::Native::pc(registers), next) == next.size() &&
         next == NativeTrapHandler::kSyscall;
}

bool resolve_restart(pid_t tid, DeferredStop& deferred) {
  const auto registers = ptrace::registers(tid);
  if (!registers || !NativeTrapHandler::may_hide_restart(*registers) ||
      !stands_before_call(tid, *registers)) {
    return registers.has_value();
  }
  const auto mask = ptrace::signal_mask(tid);
  if (!mask || !ptrace::set_signal_mask(tid, ptrace::kAllSignals)) {
    return false;
  }
  bool resolved = run_to_call(tid, StopReason::call_entry, deferred);
  const auto call = ptrace::syscall_stop(tid);
  if (resolved && call && call->number != NativeTrapHandler::kRestartCall) {
    resolved = ptrace::skip_syscall(tid, *registers, NativeTrapHandler::result(*registers)) &&
               run_to_call(tid, StopReason::call_exit, deferred);
  }
  resolved = resolved && run_to_interrupt(tid, deferred);
  (void)ptrace::set_signal_mask(tid, *mask);
  return resolved;
}

}  // namespace sp::supervisor
