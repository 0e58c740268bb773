#include "supervisor/instruments/handler_masks.h"

#include <signal.h>

#include <cerrno>
#include <optional>
#include <span>

#include "arch/native.h"
#include "supervisor/breakpoints/trap_handler.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {
namespace {

using core::Address;

constexpr std::uint64_t kSignals = 64;

}  // namespace

bool is_other_sigaction(const SyscallRequest& call) {
  return call.arguments[0] > 0 && call.arguments[0] <= kSignals && call.arguments[0] != SIGTRAP &&
         call.arguments[3] == sizeof(std::uint64_t) &&
         arch::Native::syscall_name(static_cast<int>(call.number)) == "rt_sigaction";
}

std::optional<std::int64_t> make_sigaction(InstrumentedCode& code, const Tracee& tracee,
                                           const SyscallRequest& call,
                                           const ptrace::Registers& registers, MadeHere which) {
  // A child that shares the memory (vfork) has actions of its own.
  const bool is_owner = tracee.process->id == code.owner();
  const bool makes_all = which == MadeHere::all;
  if (!is_other_sigaction(call) || (!is_owner && !makes_all)) {
    return std::nullopt;
  }
  const pid_t tid = tracee.id.tid;
  const auto [signal, action, old, mask_size, unused4, unused5] = call.arguments;
  SignalHandlers& handlers = code.signal_handlers();
  ThreadMemory memory(tid);
  std::optional<SignalAction> wanted;
  if (action != 0) {
    wanted.emplace();
    if (!memory.read(Address{action}, std::as_writable_bytes(std::span(&*wanted, 1)))) {
      if (is_owner) {
        handlers.forget(signal);
      }
      return makes_all ? std::optional<std::int64_t>(-EFAULT) : std::nullopt;
    }
  }
  if (makes_all && wanted && (signal == SIGKILL || signal == SIGSTOP)) {
    return -EINVAL;
  }
  const bool hides = is_owner && wanted && blocks_trap(*wanted) && handlers.are_told();
  const bool corrects_old = is_owner && old != 0 && handlers.is_hidden(signal);
  const bool is_made_here = (makes_all || hides || corrects_old) &&
                            code.trap_handler().is_installed &&
                            ptrace::set_registers(tid, registers);
  const auto before = is_made_here
                          ? call_sigaction(code, tid, signal,
                                           wanted && hides ? without_trap(*wanted) : wanted, true)
                          : std::nullopt;
  const auto shown = !before    ? SignalAction{}
                     : is_owner ? handlers.as_set(signal, *before)
                                : *before;
  const bool is_done =
      before && (old == 0 || memory.write(Address{old}, std::as_bytes(std::span(&shown, 1))));
  if (wanted && is_owner) {
    handlers.set(signal, *wanted, before && hides);
  }
  if (is_done) {
    return 0;
  }
  return before && makes_all ? std::optional<std::int64_t>(-EFAULT) : std::nullopt;
}

void unblock_in_handlers(InstrumentedCode& code, pid_t tid) {
  SignalHandlers& handlers = code.signal_handlers();
  const auto masks = read_signal_masks(tid);
  if (!masks || !handlers.are_told() || !code.trap_handler().is_installed) {
    return;
  }
  for (std::uint64_t signal = 1; signal <= kSignals; ++signal) {
    if (signal == SIGTRAP || (masks->caught & signal_bit(static_cast<int>(signal))) == 0) {
      continue;
    }
    const auto kernels = call_sigaction(code, tid, signal, std::nullopt);
    if (!kernels) {
      continue;
    }
    const SignalAction action = handlers.as_set(signal, *kernels);
    const bool is_hidden =
        blocks_trap(action) &&
        (!blocks_trap(*kernels) || call_sigaction(code, tid, signal, without_trap(action)));
    handlers.set(signal, action, is_hidden);
  }
}

void give_back_handler_masks(InstrumentedCode& code, pid_t tid, bool trap_is_served) {
  SignalHandlers& handlers = code.signal_handlers();
  if (handlers.hidden().empty() || read_thread_group(tid) != code.owner().pid) {
    return;
  }
  for (const auto& [signal, action] : handlers.hidden()) {
    const auto kernels = call_sigaction(code, tid, signal, std::nullopt, trap_is_served);
    if (kernels && handlers.as_set(signal, *kernels).mask != kernels->mask) {
      SignalAction programs = *kernels;
      programs.mask = action.mask;
      (void)call_sigaction(code, tid, signal, programs, trap_is_served);
    }
  }
  handlers.show_all();
}

}  // namespace sp::supervisor
