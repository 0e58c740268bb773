#include "supervisor/instruments/handler_masks.h"

#include <signal.h>

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

bool is_sigaction(const SyscallRequest& call) {
  return call.arguments[0] > 0 && call.arguments[0] <= kSignals && call.arguments[0] != SIGTRAP &&
         call.arguments[3] == sizeof(std::uint64_t) &&
         arch::Native::syscall_name(static_cast<int>(call.number)) == "rt_sigaction";
}

}  // namespace

bool make_sigaction(InstrumentedCode& code, const Tracee& tracee, const SyscallRequest& call,
                    const ptrace::Registers& registers) {
  // A child that shares the memory (vfork) has actions of its own.
  if (!is_sigaction(call) || tracee.process->id != code.owner()) {
    return false;
  }
  const pid_t tid = tracee.id.tid;
  const auto [signal, action, old, mask_size, unused4, unused5] = call.arguments;
  SignalHandlers& handlers = code.signal_handlers();
  ThreadMemory memory(tid);
  std::optional<SignalAction> wanted;
  if (action != 0) {
    wanted.emplace();
    if (!memory.read(Address{action}, std::as_writable_bytes(std::span(&*wanted, 1)))) {
      handlers.forget(signal);
      return false;
    }
  }
  const bool hides = wanted && blocks_trap(*wanted) && handlers.are_told();
  const bool corrects_old = old != 0 && handlers.is_hidden(signal);
  const bool is_made_here = (hides || corrects_old) && code.trap_handler().is_installed &&
                            ptrace::set_registers(tid, registers);
  const auto before = is_made_here
                          ? call_sigaction(code, tid, signal,
                                           wanted && hides ? without_trap(*wanted) : wanted, true)
                          : std::nullopt;
  const auto shown = before ? handlers.as_set(signal, *before) : SignalAction{};
  const bool is_done =
      before && (old == 0 || memory.write(Address{old}, std::as_bytes(std::span(&shown, 1))));
  if (wanted) {
    handlers.set(signal, *wanted, is_done && hides);
  }
  return is_done;
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

void give_back_handler_masks(InstrumentedCode& code, pid_t tid) {
  SignalHandlers& handlers = code.signal_handlers();
  if (handlers.hidden().empty() || read_thread_group(tid) != code.owner().pid) {
    return;
  }
  for (const auto& [signal, action] : handlers.hidden()) {
    const auto kernels = call_sigaction(code, tid, signal, std::nullopt);
    if (kernels && handlers.as_set(signal, *kernels).mask != kernels->mask) {
      SignalAction programs = *kernels;
      programs.mask = action.mask;
      (void)call_sigaction(code, tid, signal, programs);
    }
  }
  handlers.show_all();
}

}  // namespace sp::supervisor
