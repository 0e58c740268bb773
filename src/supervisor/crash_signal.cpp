#include "supervisor/crash_signal.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <array>

#include "supervisor/instruments/instrumented_code.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {
namespace {

constexpr std::array kWithCore{SIGABRT, SIGBUS, SIGFPE,  SIGILL,  SIGQUIT,
                               SIGSEGV, SIGSYS, SIGTRAP, SIGXCPU, SIGXFSZ};

bool names_its_instruction(int signal) { return signal == SIGILL || signal == SIGFPE; }

/// The program's own action where SIGTRAP has our handler; null: what the kernel says.
const SignalAction* own_action(const TracedProcess& process, int signal) {
  const InstrumentedCode* const code = instrumented_code(process);
  return signal == SIGTRAP && code != nullptr && code->trap_handler().is_installed
             ? &code->trap_handler().program
             : nullptr;
}

}  // namespace

bool dumps_core_by_default(int signal) {
  return std::find(kWithCore.begin(), kWithCore.end(), signal) != kWithCore.end();
}

bool dies_with_core(std::string_view status, int signal, bool is_sent) {
  const auto masks = parse_signal_masks(status);
  const auto pids = status_field(status, "NSpid");
  const bool is_init = pids && (*pids == "1" || pids->ends_with("\t1"));
  return dumps_core_by_default(signal) && masks &&
         ((masks->caught | masks->ignored) & signal_bit(signal)) == 0 && !(is_init && is_sent);
}

bool dies_with_core(const Tracee& tracee, int signal) {
  if (!dumps_core_by_default(signal)) {
    return false;
  }
  if (const SignalAction* const action = own_action(*tracee.process, signal)) {
    return action->is_default();
  }
  const auto status = read_proc(fmt::format("/proc/{}/status", tracee.id.tid));
  const auto info = ptrace::signal_info(tracee.id.tid);
  return status && info && dies_with_core(*status, signal, info->si_code <= 0);
}

core::CrashSignal crash_signal(pid_t tid, int signal, core::Address pc) {
  core::CrashSignal crash{.number = signal};
  const auto info = ptrace::signal_info(tid);
  if (!info) {
    return crash;
  }
  crash.code = info->si_code;
  if (info->si_code <= 0) {
    crash.sender = info->si_pid;
    return crash;
  }
  if (names_its_instruction(signal)) {
    crash.address = pc.value();
  } else if ((signal == SIGSEGV || signal == SIGBUS) && info->si_code != SI_KERNEL) {
    crash.address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  } else if (signal == SIGSYS) {
    crash.address = reinterpret_cast<std::uintptr_t>(info->si_call_addr);
  }
  return crash;
}

void correct_fault_address(pid_t tid, core::Address pc) {
  auto info = ptrace::signal_info(tid);
  if (info && info->si_code > 0 && info->si_code != SI_KERNEL &&
      names_its_instruction(info->si_signo)) {
    info->si_addr = reinterpret_cast<void*>(pc.value());  // NOLINT(performance-no-int-to-ptr)
    (void)ptrace::set_signal_info(tid, *info);
  }
}

}  // namespace sp::supervisor
