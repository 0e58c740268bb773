#include "supervisor/linux/syscall_restart.h"

#include <signal.h>

#include <cstdint>

#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

/// Signals that are ignored by default (SIGCONT if nothing is stopped); signal(7).
constexpr std::uint64_t kIgnoredByDefault =
    signal_bit(SIGCHLD) | signal_bit(SIGURG) | signal_bit(SIGWINCH) | signal_bit(SIGCONT);

/// Whether one of these signals would have interrupted the call of an untraced program.
bool has_effect(const SignalMasks& masks, std::uint64_t signals) {
  return (signals & (masks.caught | ~(masks.ignored | kIgnoredByDefault))) != 0;
}

}  // namespace

bool restart_interrupted_call(pid_t tid, ptrace::Registers& registers, int signal) {
  using arch::Native;
  if (Native::kInterruptedCallIsGuessed) {
    // It may as well come out of a handler that has ended the call, and the call's first argument
    // is lost.
    return false;
  }
  const auto number = Native::leaving_syscall(registers);
  if (!number || !Native::returns_eintr(registers) || !Native::is_restartable(*number)) {
    return false;
  }
  const auto masks = read_signal_masks(tid);
  if (!masks) {
    return false;
  }
  // A SIGSTOP that is pending for this thread alone is our own next one.
  const std::uint64_t pending =
      (masks->thread_pending & ~signal_bit(SIGSTOP)) | masks->process_pending;
  const std::uint64_t waiting =
      (pending & ~masks->blocked) | (signal != 0 ? signal_bit(signal) : 0);
  if (has_effect(*masks, waiting)) {
    return false;  // the call ends for a reason of its own
  }
  Native::restart_call(registers, 0);
  return ptrace::set_registers(tid, registers).has_value();
}

}  // namespace sp::supervisor
