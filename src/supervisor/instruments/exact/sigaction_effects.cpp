#include "supervisor/instruments/exact/sigaction_effects.h"

#include <span>

#include "supervisor/breakpoints/trap_handler.h"
#include "supervisor/instruments/handler_masks.h"
#include "supervisor/instruments/sigtrap_action.h"
#include "supervisor/linux/target_memory.h"

namespace sp::supervisor {
namespace {

using core::Address;

bool read_action(pid_t tid, std::uint64_t at, SignalAction& action) {
  return ThreadMemory(tid).read(Address{at}, std::as_writable_bytes(std::span(&action, 1)));
}

void write_action(pid_t tid, std::uint64_t at, const SignalAction& action) {
  (void)ThreadMemory(tid).write(Address{at}, std::as_bytes(std::span(&action, 1)));
}

/// A child that shares the memory (vfork) has actions of its own.
bool is_of_handler(const Tracee& tracee, const SyscallRequest& call) {
  return is_other_sigaction(call) && tracee.process->id == counted_code(*tracee.process).owner();
}

}  // namespace

std::optional<std::int64_t> sigaction_at_gate(const Tracee& tracee, const SyscallRequest& call,
                                              const ptrace::Registers& registers) {
  CountedCode& code = counted_code(*tracee.process);
  switch (emulate_sigaction(*tracee.process, tracee.id.tid, call)) {
    case SigactionCall::emulated:
      return 0;
    case SigactionCall::handler:
      if (ptrace::set_registers(tracee.id.tid, registers)) {
        give_back_handler_masks(code, tracee.id.tid, true);
      }
      return std::nullopt;
    case SigactionCall::other:
      break;
  }
  return make_sigaction(code, tracee, call, registers, MadeHere::all);
}

void before_sigaction(const Tracee& tracee, CountedThread::Syscall& syscall) {
  const pid_t tid = tracee.id.tid;
  CountedCode& code = counted_code(*tracee.process);
  const SigactionCall call = emulate_sigaction(*tracee.process, tid, syscall.request);
  if (call == SigactionCall::handler) {
    syscall.sets_trap_handler = true;
    code.trap_handler().is_installed = false;  // from now on the program has a handler of its own
  }
  const auto registers = call == SigactionCall::emulated ? ptrace::registers(tid) : core::fail("");
  if (registers) {
    syscall.emulated = ptrace::skip_syscall(tid, *registers, 0).has_value();
  }
  SignalAction wanted;
  if (const std::uint64_t action = syscall.request.arguments[1];
      is_of_handler(tracee, syscall.request) && action != 0 && read_action(tid, action, wanted)) {
    syscall.sets_handler = wanted;
  }
}

void after_sigaction(const Tracee& tracee, const CountedThread::Syscall& syscall,
                     std::int64_t result) {
  const pid_t tid = tracee.id.tid;
  CountedCode& code = counted_code(*tracee.process);
  const std::uint64_t signal = syscall.request.arguments[0];
  const std::uint64_t old = syscall.request.arguments[2];
  if (syscall.sets_trap_handler && old != 0) {
    write_action(tid, old, code.trap_handler().program);
  }
  if (result != 0 || !is_of_handler(tracee, syscall.request)) {
    return;
  }
  SignalHandlers& handlers = code.signal_handlers();
  SignalAction shown;
  if (old != 0 && handlers.is_hidden(signal) && read_action(tid, old, shown)) {
    write_action(tid, old, handlers.as_set(signal, shown));
  }
  if (syscall.sets_handler) {
    handlers.set(signal, *syscall.sets_handler);
  }
}

}  // namespace sp::supervisor
