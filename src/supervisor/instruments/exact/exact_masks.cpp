// How threads of exact mode change their signal masks: a part of ExactCounter.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "arch/native.h"
#include "supervisor/instruments/exact/exact_counter.h"
#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

using arch::NativeTrapHandler;
using core::Address;

using Mask = std::uint64_t;
std::optional<Mask> mask_after(std::uint64_t how, Mask before, Mask given) {
  switch (how) {
    case SIG_BLOCK:
      return before | given;
    case SIG_UNBLOCK:
      return before & ~given;
    case SIG_SETMASK:
      return given;
    default:
      return std::nullopt;
  }
}

}  // namespace

/// rt_sigprocmask without the kernel, which would block SIGTRAP for a moment: were we killed in it,
/// the thread's next breakpoint would kill the target. False where it is not that call, or fails.
bool ExactCounter::change_mask(Tracee& tracee, std::uint64_t number,
                               const std::array<std::uint64_t, 6>& arguments) {
  const auto [how, set, old, size, unused4, unused5] = arguments;
  CountedThread& thread = tracee.counted;
  const pid_t tid = tracee.id.tid;
  if (size != sizeof(Mask) ||
      arch::Native::syscall_name(static_cast<int>(number)) != "rt_sigprocmask") {
    return false;
  }
  const auto blocked = ptrace::signal_mask(tid);
  if (!blocked) {
    return false;
  }
  const Mask before = thread.blocks_trap ? *blocked | signal_bit(SIGTRAP) : *blocked;
  std::optional<Mask> after = before;
  std::array<std::byte, sizeof(Mask)> bytes{};
  ThreadMemory memory(tid);
  if (set != 0) {
    Mask given = 0;
    if (!memory.read(Address{set}, bytes)) {
      return false;
    }
    std::memcpy(&given, bytes.data(), sizeof given);
    after = mask_after(how, before, given & ~(signal_bit(SIGKILL) | signal_bit(SIGSTOP)));
  }
  std::memcpy(bytes.data(), &before, sizeof before);
  if (!after || (old != 0 && !memory.write(Address{old}, bytes)) ||
      !ptrace::set_signal_mask(tid, *after & ~signal_bit(SIGTRAP))) {
    return false;
  }
  thread.blocks_trap = (*after & signal_bit(SIGTRAP)) != 0;
  if (!thread.blocks_trap && std::exchange(thread.trap_is_held, false)) {
    ::syscall(SYS_tgkill, tracee.process->id.pid, tid, SIGTRAP);
  }
  return true;
}

/// The same at the call's entry. From the next time on it is a breakpoint, see CountedCode::gate().
bool ExactCounter::change_mask_in_its_stead(Tracee& tracee, const CountedThread::Call& call) {
  const auto registers = ptrace::registers(tracee.id.tid);
  if (!registers || !change_mask(tracee, call.number, call.arguments)) {
    return false;
  }
  tracee.process->counted->gate(arch::Native::pc(*registers));
  (void)ptrace::skip_syscall(tracee.id.tid, *registers, 0);
  return true;
}

void ExactCounter::on_gate(Tracee& tracee, Site& site, ptrace::Registers& registers) {
  CountedCode& code = *tracee.process->counted;
  const auto [number, arguments] = NativeTrapHandler::next_call(registers);
  if (change_mask(tracee, number, arguments)) {
    NativeTrapHandler::finish_call(registers, 0);
    arch::Native::set_pc(registers, site.instruction.next());
    come_back(tracee, site.instruction.next());
  } else {
    (void)code.lift(site);  // other calls are made there too
  }
  (void)ptrace::set_registers(tracee.id.tid, registers);
  go(tracee);
}

}  // namespace sp::supervisor
