#include "supervisor/instruments/sigtrap_action.h"

#include <signal.h>

#include <span>

#include "arch/native.h"
#include "supervisor/breakpoints/trap_handler.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {

using core::Address;

SigactionCall emulate_sigaction(TracedProcess& process, pid_t tid, const SyscallRequest& call) {
  InstrumentedCode& code = *instrumented_code(process);
  const bool has_own_actions = process.id != code.owner();  // though the memory is its parent's
  const auto [signal, action, old, mask_size, unused4, unused5] = call.arguments;
  if (!code.trap_handler().is_installed || signal != SIGTRAP ||
      mask_size != sizeof(std::uint64_t) ||
      arch::Native::syscall_name(static_cast<int>(call.number)) != "rt_sigaction") {
    return SigactionCall::other;
  }
  ThreadMemory memory(tid);
  SignalAction wanted;
  if (action != 0 && !memory.read(Address{action}, std::as_writable_bytes(std::span(&wanted, 1)))) {
    return SigactionCall::other;
  }
  if (wanted.has_handler()) {
    return has_own_actions ? SigactionCall::other : SigactionCall::handler;
  }
  SignalAction before = code.trap_handler().program;
  if (process.has_set_sigtrap_ignored) {
    before = SignalAction{*process.has_set_sigtrap_ignored ? 1U : 0U};
  }
  if (old != 0 && !memory.write(Address{old}, std::as_bytes(std::span(&before, 1)))) {
    return SigactionCall::other;
  }
  if (action != 0 && has_own_actions) {
    process.has_set_sigtrap_ignored = wanted.is_ignore();
  } else if (action != 0) {
    set_program_action(code, wanted);
  }
  return SigactionCall::emulated;
}

bool may_deliver_sent_trap(const TracedProcess& process, SigtrapMask& mask, pid_t tid) {
  if (!mask.may_deliver(tid)) {
    return false;
  }
  if (!instrumented_code(process)->trap_handler().is_installed || !ignores_trap(process)) {
    return true;
  }
  const auto info = ptrace::signal_info(tid);
  return !info || info->si_code > 0;
}

}  // namespace sp::supervisor
