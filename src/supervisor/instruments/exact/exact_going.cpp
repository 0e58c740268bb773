// How threads of exact mode are let run, and let go: the other half of ExactCounter.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>

#include "arch/native.h"
#include "core/log.h"
#include "supervisor/instruments/exact/exact_counter.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/instruments/remove_copies.h"
#include "supervisor/breakpoints/trap_handler.h"
#include "supervisor/breakpoints/memory_origin.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using core::Address;
using core::Flow;

}  // namespace

ExactCounter::Origin ExactCounter::origin_of(const Tracee& parent) {
  const auto& call = parent.counted.call;
  return {parent.process->counted, call ? call->plantings : 0, parent.counted.blocks_trap};
}

void ExactCounter::begin_child(TracedProcess& process, pid_t tid, const Origin& origin) {
  if (shares_memory(*origin.code, tid)) {
    process.counted = origin.code;
  } else if (descent(*origin.code, tid) == Descent::from_before) {
    begin_process(process, tid);
  } else {
    process.counted = std::make_shared<CountedCode>(process.id, tid, *origin.code, origin.certain);
  }
}

void ExactCounter::go(Tracee& tracee) {
  CountedThread& thread = tracee.counted;
  if (thread.aside) {
    if (thread.aside->end_of_sequence) {
      (void)ptrace::resume_to_syscall(tracee.id.tid, 0);
    } else {
      (void)ptrace::step(tracee.id.tid, 0);
    }
    return;
  }
  if constexpr (Native::kLongestAtomicSequence > 0) {
    if (thread.stepped && !thread.call && thread.next && thread.next->flow == Flow::next) {
      auto registers = ptrace::registers(tracee.id.tid);
      if (registers && Native::pc(*registers) == thread.next->address &&
          run_sequence(tracee, *registers)) {
        return;
      }
    }
  }
  const bool at_call = thread.next && thread.next->flow == Flow::syscall;
  if (!thread.stepped || thread.call || at_call) {
    (void)ptrace::resume_to_syscall(tracee.id.tid, 0);
  } else {
    (void)ptrace::step(tracee.id.tid, 0);
  }
}

/// Some kernels have put the program counter back on an interrupted call already.
bool ExactCounter::is_stepped_back_to_call(const Tracee& tracee,
                                           const ptrace::Registers& registers) const {
  if (!tracee.counted.stepped || tracee.counted.aside) {
    return false;
  }
  const auto instruction = tracee.process->counted->decode(Native::pc(registers));
  return instruction && instruction->flow == Flow::syscall;
}

void ExactCounter::resume(Tracee& tracee, int signal) {
  CountedThread& thread = tracee.counted;
  const pid_t tid = tracee.id.tid;
  if (tracee.process->counted == nullptr || !thread.begun) {
    (void)ptrace::resume(tid, signal);
    return;
  }
  const auto registers = ptrace::registers(tid);
  if (!registers) {
    (void)ptrace::resume(tid, signal);
    return;
  }
  if (signal == SIGTRAP) {
    (void)give_up_handler(*tracee.process->counted, tid);
  }
  if (signal == 0) {
    if (Native::will_restart(*registers) || is_stepped_back_to_call(tracee, *registers)) {
      (void)ptrace::resume_to_syscall(tid, 0);  // its next instruction is the call once more
    } else {
      go(tracee);
    }
    return;
  }
  thread.interrupted_at = Native::pc(*registers);
  const auto instruction = tracee.process->counted->decode(thread.interrupted_at);
  const bool before_call =
      Native::will_restart(*registers) || (instruction && instruction->flow == Flow::syscall);
  if (before_call || thread.blocks_trap) {
    // Stepped over, a system call would not be seen. With a handler the call is not the next.
    const auto masks = read_signal_masks(tid);
    if (masks && (masks->caught & signal_bit(signal)) == 0) {
      (void)ptrace::resume_to_syscall(tid, signal);
      return;
    }
  }
  block_trap_again(tracee);  // the handler's return shall find it
  thread.delivering = true;
  (void)ptrace::step(tid, signal);
}

void ExactCounter::on_other_stop(Tracee& tracee) {
  ++stops_;
  tracee.counted.delivering = false;
  if (tracee.counted.aside) {
    leave_aside(tracee);
  }
}

void ExactCounter::step_aside(Tracee& tracee, Site& site, ptrace::Registers& registers) {
  CountedThread::Aside aside;
  aside.site = site.instruction.address;
  aside.before = registers;
  PlantedCode& code = *tracee.process->counted;
  if (const auto copy = code.copy_of(site, tracee.id.tid)) {
    aside.in_copy = true;
    Native::set_pc(registers, *copy);
  } else {
    (void)code.lift(site);
  }
  tracee.counted.aside = aside;
  (void)ptrace::set_registers(tracee.id.tid, registers);
  go(tracee);
}

/// Where a sequence begins that must not be stopped within: lets the thread run to a breakpoint
/// behind a copy of it. False where that is not so or cannot be.
bool ExactCounter::run_sequence(Tracee& tracee, ptrace::Registers& registers) {
  CountedCode& code = *tracee.process->counted;
  const Address begin = Native::pc(registers);
  const std::size_t length = code.sequence_at(begin);
  if (length == 0) {
    return false;
  }
  const auto copy = code.copy_of_sequence(begin, tracee.id.tid);
  if (!copy) {
    if (Site* const site = code.planted_at(begin)) {
      (void)code.lift(*site);
    }
    core::log_note("process {}: what follows some load-exclusive instructions is not counted",
                   tracee.process->id.pid);
    (void)ptrace::set_registers(tracee.id.tid, registers);
    (void)ptrace::resume_to_syscall(tracee.id.tid, 0);
    return true;
  }
  CountedThread::Aside aside;
  aside.site = begin;
  aside.before = registers;
  aside.in_copy = true;
  aside.end_of_sequence = begin + (length - Native::kBreakpoint.size());
  tracee.counted.aside = aside;
  Native::set_pc(registers, *copy);
  (void)ptrace::set_registers(tracee.id.tid, registers);
  (void)ptrace::resume_to_syscall(tracee.id.tid, 0);
  return true;
}

/// The thread stands at a jump behind its copy of a sequence.
void ExactCounter::come_out_of_sequence(Tracee& tracee, const Site& exit,
                                        ptrace::Registers& registers, core::TimePoint now) {
  const Address last = *std::exchange(tracee.counted.aside, std::nullopt)->end_of_sequence;
  const Address to = *exit.instruction.target;
  Native::set_pc(registers, to);
  (void)ptrace::set_registers(tracee.id.tid, registers);
  const bool falls_through = to == last + Native::kBreakpoint.size();
  cross(tracee, last, to, falls_through ? core::EdgeFlow::fallthrough : core::EdgeFlow::taken, now);
}

/// The displaced instruction was done.
void ExactCounter::finish_aside(Tracee& tracee) {
  const auto aside = std::exchange(tracee.counted.aside, std::nullopt);
  CountedCode& code = *tracee.process->counted;
  if (Site* const site = code.lifted_at(aside->site)) {
    (void)code.plant(*site);
  }
}

/// Something else came before it was done: it is still to be.
void ExactCounter::leave_aside(Tracee& tracee) {
  const CountedThread::Aside aside = *tracee.counted.aside;
  if (aside.end_of_sequence) {
    auto registers = ptrace::registers(tracee.id.tid);
    if (!registers || trap_is_pending(tracee, Native::pc(*registers))) {
      return;
    }
    if (const Site* const exit = tracee.process->counted->planted_at(Native::pc(*registers));
        exit != nullptr && tracee.process->counted->copies().at(exit->instruction.address)) {
      come_out_of_sequence(tracee, *exit, *registers, core::Clock::now());
      return;
    }
  }
  finish_aside(tracee);
  if (aside.in_copy) {
    (void)ptrace::set_registers(tracee.id.tid, aside.before);
  }
}

void ExactCounter::unblock_trap(Tracee& tracee) {
  CountedThread& thread = tracee.counted;
  const auto mask = ptrace::signal_mask(tracee.id.tid);
  if (!mask) {
    return;
  }
  thread.blocks_trap = (*mask & signal_bit(SIGTRAP)) != 0;
  if (thread.blocks_trap) {
    (void)ptrace::set_signal_mask(tracee.id.tid, *mask & ~signal_bit(SIGTRAP));
  } else if (std::exchange(thread.trap_is_held, false)) {
    ::syscall(SYS_tgkill, tracee.process->id.pid, tracee.id.tid, SIGTRAP);
  }
}

void ExactCounter::block_trap_again(const Tracee& tracee) {
  if (!tracee.counted.blocks_trap) {
    return;
  }
  const auto mask = ptrace::signal_mask(tracee.id.tid);
  // Where it waits with another mask (sigsuspend) this is the one from before, which is whole.
  if (mask && (*mask & signal_bit(SIGTRAP)) == 0) {
    (void)ptrace::set_signal_mask(tracee.id.tid, *mask | signal_bit(SIGTRAP));
  }
}

bool ExactCounter::may_have_trap(Tracee& tracee) const {
  const auto info = ptrace::signal_info(tracee.id.tid);
  if (!tracee.counted.blocks_trap || !info || info->si_code > 0) {
    return true;
  }
  tracee.counted.trap_is_held = true;
  return false;
}

void ExactCounter::before_sigaction(Tracee& tracee, CountedThread::Call& call) {
  auto& rescue = tracee.process->counted->rescue();
  if (!rescue.handler_is_ours || call.arguments[0] != SIGTRAP ||
      Native::syscall_name(static_cast<int>(call.number)) != "rt_sigaction") {
    return;
  }
  call.shows_our_handler = true;
  std::array<std::byte, sizeof(std::uint64_t)> handler{};
  if (call.arguments[1] == 0 ||
      !ThreadMemory(tracee.id.tid).read(Address{call.arguments[1]}, handler)) {
    return;
  }
  if (handler != std::array<std::byte, sizeof(std::uint64_t)>{}) {
    rescue.handler_is_ours = false;  // from now on it has one of its own
    return;
  }
  // The default action is what it sees already.
  if (auto registers = ptrace::registers(tracee.id.tid)) {
    set_second_argument(*registers, 0);
    call.without_second = ptrace::set_registers(tracee.id.tid, *registers).has_value();
  }
}

void ExactCounter::after_sigaction(Tracee& tracee, const CountedThread::Call& call) {
  if (call.without_second) {
    if (auto registers = ptrace::registers(tracee.id.tid)) {
      set_second_argument(*registers, call.arguments[1]);
      (void)ptrace::set_registers(tracee.id.tid, *registers);
    }
  }
  if (call.shows_our_handler && call.arguments[2] != 0) {
    // The kernel's struct: handler, flags, restorer, mask.
    constexpr std::array<std::byte, 4 * sizeof(std::uint64_t)> kDefault{};
    (void)ThreadMemory(tracee.id.tid).write(Address{call.arguments[2]}, kDefault);
  }
}

void ExactCounter::restore(TracedProcess& process) {
  if (process.counted != nullptr) {
    process.counted->restore_all();
  }
}

bool ExactCounter::on_retired_trap(Tracee& tracee) {
  const pid_t tid = tracee.id.tid;
  const auto registers = ptrace::registers(tid);
  const auto info = ptrace::signal_info(tid);
  if (!registers || !info || info->si_code <= 0) {
    return false;
  }
  return turn_back(*tracee.process->counted, tid, *registers, info->si_code) ||
         info->si_code == SIGTRAP ||
         Native::is_step_code(info->si_code);  // the end of a step of ours
}

bool ExactCounter::make_detachable(Tracee& tracee, bool at_syscall) {
  if (tracee.process->counted == nullptr) {
    return true;
  }
  if (tracee.counted.aside) {
    leave_aside(tracee);
  }
  block_trap_again(tracee);
  const auto registers = ptrace::registers(tracee.id.tid);
  if (registers && trap_is_pending(tracee, Native::pc(*registers))) {
    return false;
  }
  if (!at_syscall) {
    remove_copies(*tracee.process->counted, tracee);
    remove_rescue(*tracee.process->counted, tracee.id.tid);
  }
  return true;
}

/// An interrupt is reported before a trap that the thread has run into already.
bool ExactCounter::trap_is_pending(const Tracee& tracee, Address pc) const {
  const CountedCode& code = *tracee.process->counted;
  if (!code.was_planted_at(Native::breakpoint_of_trap(pc))) {
    return false;
  }
  const auto masks = read_signal_masks(tracee.id.tid);
  return masks && (masks->thread_pending & signal_bit(SIGTRAP)) != 0;
}

}  // namespace sp::supervisor
