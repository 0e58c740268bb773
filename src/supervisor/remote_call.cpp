#include "supervisor/remote_call.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "arch/native.h"
#include "supervisor/ptrace.h"
#include "supervisor/rescue_native.h"
#include "supervisor/wait_status.h"

namespace sp::supervisor {
namespace {

/// Runs until the step is over. False where the thread is gone.
bool finish_step(pid_t tid, const ptrace::Registers& at_call, bool& stop_came) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    if (!ptrace::set_registers(tid, at_call) || !ptrace::step(tid, 0)) {
      return false;
    }
    const auto report = ptrace::wait_for(tid);
    const WaitStatus status = report ? parse_wait_status(report->status) : WaitStatus{NotAStop{}};
    if (std::holds_alternative<Exited>(status) || std::holds_alternative<Killed>(status) ||
        std::holds_alternative<NotAStop>(status)) {
      return false;
    }
    const auto* delivery = std::get_if<SignalDelivery>(&status);
    if (delivery != nullptr && delivery->signal == SIGTRAP) {
      return true;
    }
    // The one signal that cannot be blocked and does not kill; it is sent once more.
    stop_came = stop_came || (delivery != nullptr && delivery->signal == SIGSTOP);
  }
  return false;
}

}  // namespace

core::Result<std::int64_t> remote_call(pid_t tid, core::Address instruction, long number,
                                       const std::array<std::uint64_t, 6>& arguments) {
  if constexpr (NativeRescue::kAvailable) {
    const auto before = ptrace::registers(tid);
    const auto mask = ptrace::signal_mask(tid);
    if (!before || !mask ||
        !ptrace::set_signal_mask(tid, ~std::uint64_t{0} & ~(1ULL << (SIGTRAP - 1)))) {
      return core::fail("calling in the target", ESRCH);
    }
    ptrace::Registers at_call = *before;
    arch::Native::set_pc(at_call, instruction);
    NativeRescue::set_call(at_call, static_cast<std::uint64_t>(number), arguments);
    bool stop_came = false;
    const bool done = finish_step(tid, at_call, stop_came);
    const auto after = ptrace::registers(tid);
    (void)ptrace::set_registers(tid, *before);
    (void)ptrace::set_signal_mask(tid, *mask);
    if (stop_came) {
      ::syscall(SYS_tkill, tid, SIGSTOP);
    }
    if (!done || !after) {
      return core::fail("calling in the target", ESRCH);
    }
    return NativeRescue::result(*after);
  } else {
    return core::fail("calling in the target", ENOSYS);
  }
}

}  // namespace sp::supervisor
