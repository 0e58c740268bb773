#include "supervisor/linux/sleep_remain.h"

#include <sys/syscall.h>
#include <time.h>

#include "arch/native.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/linux/process_vm.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/linux/target_memory.h"
#include "supervisor/linux/visible_signals.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using arch::NativeTrapHandler;
using core::Address;

/// Where the call writes what remains; nothing if it does not.
Address remain_of(const BlockedCall& call) {
  if (call.number == SYS_nanosleep) {
    return Address{call.arguments[1]};
  }
  const bool is_relative =
      call.number == SYS_clock_nanosleep && (call.arguments[1] & TIMER_ABSTIME) == 0;
  return Address{is_relative ? call.arguments[3] : 0};
}

}  // namespace

void SleepRemain::note(pid_t tid) { note(tid, read_syscall(tid)); }

void SleepRemain::note(pid_t tid, const std::optional<BlockedCall>& call) {
  const bool goes_on = before_ && call &&
                       call->number == static_cast<int>(NativeTrapHandler::kRestartCall) &&
                       call->arguments == before_->arguments;
  if (goes_on) {
    return;  // after an earlier stop, where it was put back
  }
  before_.reset();
  const Address at = call ? remain_of(*call) : Address{};
  Before before{
      call ? call->arguments : std::array<std::uint64_t, 6>{}, call ? call->number : -1, at, {}};
  if (at != Address{} && copy_memory(tid, at, before.bytes) == before.bytes.size()) {
    before_ = before;
  }
}

void SleepRemain::note_stop(pid_t tid) {
  sleeps_on_ = false;
  if (!before_) {
    return;
  }
  const auto registers = ptrace::registers(tid);
  const auto number = registers ? Native::leaving_syscall(*registers) : std::nullopt;
  sleeps_on_ = number && Native::will_restart(*registers) &&
               (*number == before_->number ||
                *number == static_cast<int>(NativeTrapHandler::kRestartCall)) &&
               NativeTrapHandler::next_call(*registers).arguments == before_->arguments;
}

void SleepRemain::put_back(pid_t tid, int signal) const {
  if (sleeps_on_ && !sees_signal(tid, signal)) {
    (void)ThreadMemory(tid).write(before_->at, before_->bytes);
  }
}

}  // namespace sp::supervisor
