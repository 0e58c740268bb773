#include "supervisor/instruments/exact/thread_runner.h"

#include <signal.h>

#include "arch/native.h"
#include "core/log.h"
#include "supervisor/breakpoints/atomic_sequences.h"
#include "supervisor/breakpoints/trap_handler.h"
#include "supervisor/instruments/trap_origin.h"
#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using core::Address;
using core::EdgeFlow;
using core::Flow;

/// Some kernels have put the program counter back on an interrupted call already.
bool is_stepped_back_to_call(const Tracee& tracee, const ptrace::Registers& registers) {
  const CountedThread& thread = counted_thread(tracee);
  if (!thread.stepped || thread.displaced.is_active()) {
    return false;
  }
  const auto instruction = counted_code(*tracee.process).decode(Native::pc(registers));
  return instruction && instruction->flow == Flow::syscall;
}

}  // namespace

/// The breakpoint that ends its block may be gone.
void ThreadRunner::step_where_code_was_written(Tracee& tracee) {
  CountedThread& thread = counted_thread(tracee);
  CountedCode& code = counted_code(*tracee.process);
  if (thread.syscall || thread.displaced.is_active() ||
      std::exchange(thread.times_written, code.times_written()) == code.times_written() ||
      thread.stepped) {
    return;
  }
  if (const auto registers = ptrace::registers(tracee.id.tid)) {
    thread.stepped = true;
    thread.next = code.decode(Native::pc(*registers));
  }
}

void ThreadRunner::continue_thread(Tracee& tracee) {
  CountedThread& thread = counted_thread(tracee);
  const pid_t tid = tracee.id.tid;
  step_where_code_was_written(tracee);
  if (thread.displaced.is_active()) {
    (void)(thread.displaced.end_of_sequence() ? ptrace::resume_to_syscall(tid, 0)
                                              : ptrace::step(tid, 0));
    return;
  }
  if constexpr (Native::kLongestAtomicSequence > 0) {
    if (thread.stepped && !thread.syscall && thread.next && thread.next->flow == Flow::next) {
      auto registers = ptrace::registers(tid);
      if (registers && Native::pc(*registers) == thread.next->address &&
          run_sequence(tracee, *registers)) {
        return;
      }
    }
  }
  const bool at_call = thread.next && thread.next->flow == Flow::syscall;
  (void)(!thread.stepped || thread.syscall || at_call ? ptrace::resume_to_syscall(tid, 0)
                                                      : ptrace::step(tid, 0));
}

void ThreadRunner::resume(Tracee& tracee, int signal) {
  const pid_t tid = tracee.id.tid;
  const bool is_counted = tracee.process->code_state != nullptr && counted_thread(tracee).begun;
  const auto registers = is_counted ? ptrace::registers(tid) : core::fail("");
  if (!registers) {
    (void)ptrace::resume(tid, signal);
    return;
  }
  if (signal != 0) {
    deliver_signal(tracee, *registers, signal);
  } else if (Native::will_restart(*registers) || is_stepped_back_to_call(tracee, *registers)) {
    (void)ptrace::resume_to_syscall(tid, 0);  // its next instruction is the call once more
  } else {
    continue_thread(tracee);
  }
}

void ThreadRunner::deliver_signal(Tracee& tracee, const ptrace::Registers& registers, int signal) {
  CountedThread& thread = counted_thread(tracee);
  CountedCode& code = counted_code(*tracee.process);
  const pid_t tid = tracee.id.tid;
  if (signal == SIGTRAP) {
    (void)reset_trap_action(code, tid);
  }
  thread.interrupted_at = Native::pc(registers);
  const auto instruction = code.decode(thread.interrupted_at);
  const bool before_call =
      Native::will_restart(registers) || (instruction && instruction->flow == Flow::syscall);
  if (has_handler(tid, signal)) {
    thread.mask.block_again(tid);  // the handler's return shall find it
  } else if (before_call || !(thread.stepped || thread.mask.is_shown())) {
    (void)ptrace::resume_to_syscall(tid, signal);  // stepped over, a call would not be seen
    return;
  }
  thread.delivering = true;
  thread.delivers_hidden = code.signal_handlers().is_hidden(static_cast<std::uint64_t>(signal));
  (void)ptrace::step(tid, signal);
}

bool ThreadRunner::run_sequence(Tracee& tracee, ptrace::Registers& registers) {
  CountedCode& code = counted_code(*tracee.process);
  const pid_t tid = tracee.id.tid;
  const Address begin = Native::pc(registers);
  const std::size_t length = sequence_at(code, begin);
  if (length == 0) {
    return false;
  }
  if (!counted_thread(tracee).displaced.begin_sequence(code, length, tid, registers)) {
    if (BreakpointSite* const site = code.inserted_at(begin)) {
      (void)code.remove(*site);
    }
    core::log_note("process {}: what follows some load-exclusive instructions is not counted",
                   tracee.process->id.pid);
    (void)ptrace::set_registers(tid, registers);
  }
  (void)ptrace::resume_to_syscall(tid, 0);
  return true;
}

void ThreadRunner::leave_sequence(Tracee& tracee, const BreakpointSite& exit,
                                  ptrace::Registers& registers, core::TimePoint now) {
  DisplacedStep& displaced = counted_thread(tracee).displaced;
  const Address last = *displaced.end_of_sequence();
  displaced.leave();
  const Address to = *exit.instruction.target;
  Native::set_pc(registers, to);
  (void)ptrace::set_registers(tracee.id.tid, registers);
  const bool falls_through = to == last + Native::kBreakpoint.size();
  flow_.cross(tracee, last, to, falls_through ? EdgeFlow::fallthrough : EdgeFlow::taken, now,
              &registers);
}

void ThreadRunner::cancel_displaced(Tracee& tracee) {
  CountedCode& code = counted_code(*tracee.process);
  DisplacedStep& displaced = counted_thread(tracee).displaced;
  if (displaced.end_of_sequence()) {
    auto registers = ptrace::registers(tracee.id.tid);
    if (!registers || trap_is_pending(code, tracee.id.tid, Native::pc(*registers), false)) {
      return;
    }
    const BreakpointSite* const exit = code.inserted_at(Native::pc(*registers));
    if (exit != nullptr && displaced.is_in_copy(code, exit->instruction.address)) {
      leave_sequence(tracee, *exit, *registers, core::Clock::now());
      return;
    }
  }
  displaced.cancel(code, tracee.id.tid);
}

}  // namespace sp::supervisor
