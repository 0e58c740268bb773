#include "supervisor/injection/remote_stops.h"

#include <linux/ptrace.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <variant>

#include "arch/native.h"
#include "supervisor/linux/target_memory.h"
#include "supervisor/linux/wait_status.h"

namespace sp::supervisor {
namespace {

using arch::NativeTrapHandler;

constexpr std::uint64_t kAllSignals = ~std::uint64_t{0};

bool is_ours(const siginfo_t& info) {
  return info.si_signo == SIGSTOP && info.si_code == SI_TKILL &&
         (info.si_pid == ::getpid() || info.si_pid == 0);
}

/// Waits for the thread's next stop.
Came wait_for_stop(pid_t tid, StopCame& stop_came) {
  const auto report = ptrace::wait_for(tid);
  const WaitStatus status = report ? parse_wait_status(report->status) : WaitStatus{NotAStop{}};
  if (std::holds_alternative<Exited>(status) || std::holds_alternative<Killed>(status) ||
      std::holds_alternative<NotAStop>(status)) {
    return Came::end;
  }
  if (const auto call = ptrace::syscall_stop(tid)) {
    if (call->side == ptrace::SyscallStop::Side::entry) {
      return Came::call_entry;
    }
    if (call->side == ptrace::SyscallStop::Side::exit) {
      return Came::call_exit;
    }
  }
  if (std::holds_alternative<InterruptStop>(status) || std::holds_alternative<GroupStop>(status)) {
    stop_came.of_others = stop_came.of_others || std::holds_alternative<GroupStop>(status);
    return Came::interrupt;
  }
  const auto* const delivery = std::get_if<SignalDelivery>(&status);
  if (delivery != nullptr && delivery->signal == SIGSTOP) {
    const auto info = ptrace::signal_info(tid);
    (info && is_ours(*info) ? stop_came.ours : stop_came.of_others) = true;
  }
  return delivery != nullptr && delivery->signal == SIGTRAP ? Came::step : Came::something_else;
}

constexpr int kTries = 100;

}  // namespace

void StopCame::send_again(pid_t tid) const {
  if (ours) {
    ::syscall(SYS_tkill, tid, SIGSTOP);
  }
  if (of_others) {
    ::kill(tid, SIGSTOP);
  }
}

bool run_to_call(pid_t tid, Came side, StopCame& stop_came) {
  for (int i = 0; i < kTries; ++i) {
    if (!ptrace::resume_to_syscall(tid, 0)) {
      return false;
    }
    const Came came = wait_for_stop(tid, stop_came);
    if (came == side || came == Came::end) {
      return came == side;
    }
  }
  return false;
}

bool run_to_interrupt(pid_t tid, StopCame& stop_came) {
  for (int i = 0; i < kTries; ++i) {
    // Each time anew: any other stop takes its place.
    if (!ptrace::interrupt(tid) || !ptrace::resume(tid, 0)) {
      return false;
    }
    const Came came = wait_for_stop(tid, stop_came);
    if (came == Came::interrupt || came == Came::end) {
      return came == Came::interrupt;
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

bool step_over_call(pid_t tid, const ptrace::Registers& at_call, StopCame& stop_came) {
  for (int i = 0; i < kTries; ++i) {
    if (!ptrace::set_registers(tid, at_call) || !ptrace::step(tid, 0)) {
      return false;
    }
    const Came came = wait_for_stop(tid, stop_came);
    if (came == Came::step || came == Came::end) {
      return came == Came::step;
    }
  }
  return false;
}

bool stands_before_call(pid_t tid, const ptrace::Registers& registers) {
  std::array<std::byte, NativeTrapHandler::kSyscall.size()> next{};
  return TargetMemory(tid).read(arch::Native::pc(registers), next) == next.size() &&
         next == NativeTrapHandler::kSyscall;
}

bool settle_restart(pid_t tid, StopCame& stop_came) {
  const auto registers = ptrace::registers(tid);
  if (!registers || !NativeTrapHandler::may_hide_restart(*registers) ||
      !stands_before_call(tid, *registers)) {
    return registers.has_value();
  }
  const auto mask = ptrace::signal_mask(tid);
  if (!mask || !ptrace::set_signal_mask(tid, kAllSignals)) {
    return false;
  }
  bool settled = run_to_call(tid, Came::call_entry, stop_came);
  const auto call = ptrace::syscall_stop(tid);
  if (settled && call && call->number != NativeTrapHandler::kRestartCall) {
    settled = ptrace::skip_syscall(tid, *registers, NativeTrapHandler::result(*registers)) &&
              run_to_call(tid, Came::call_exit, stop_came);
  }
  settled = settled && run_to_interrupt(tid, stop_came);
  (void)ptrace::set_signal_mask(tid, *mask);
  return settled;
}

}  // namespace sp::supervisor
