#include "supervisor/syscall_repair.h"

#include <signal.h>

#include <utility>
#include <variant>

#include "supervisor/linux/ptrace.h"
#include "supervisor/linux/syscall_restart.h"

namespace sp::supervisor {

core::Result<void> SyscallRepair::interrupt(Tracee& tracee) {
  return supervisor::interrupt(tracee);
}

bool SyscallRepair::on_stop(Tracee& tracee, const WaitStatus& status,
                            const std::function<void()>& resume) {
  if (std::holds_alternative<AtSyscall>(status)) {
    tracee.interrupted_call.note_call(tracee.id.tid);
  } else {
    const auto* const signal = std::get_if<SignalDelivery>(&status);
    tracee.interrupted_call.note_stop(tracee.id.tid,
                                      std::holds_alternative<InterruptStop>(status) ||
                                          (signal != nullptr && signal->signal != SIGTRAP));
  }
  tracee.sleep_remain.note_stop(tracee.id.tid);
  if (std::exchange(tracee.was_attached_to, false)) {
    rests_.take_over(tracee.process->id, tracee.id);
  }
  completes_ = false;
  if (rests_.on_stop(tracee.id, status, tracee.is_awaited, resume)) {
    return true;
  }
  completes_ = !std::holds_alternative<EventStop>(status);  // no transfer creates or ends a task
  return false;
}

void SyscallRepair::restart_call(Tracee& tracee, int signal) {
  if (auto registers = ptrace::registers(tracee.id.tid)) {
    restart_interrupted_call(tracee.id.tid, *registers, signal, tracee.interrupted_call);
  }
}

void SyscallRepair::on_resume(Tracee& tracee, int signal) {
  if (completes_) {
    rests_.begin(tracee.process->id, tracee.id, signal);
    tracee.sleep_remain.put_back(tracee.id.tid, signal);
  }
}

void SyscallRepair::forget(const Tracee& tracee, int signal) {
  if (completes_) {
    tracee.sleep_remain.put_back(tracee.id.tid, signal);  // it may have made calls for us
  }
  rests_.forget(tracee.process->id, tracee.id);
}

}  // namespace sp::supervisor
