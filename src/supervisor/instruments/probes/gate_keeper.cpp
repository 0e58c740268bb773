#include "supervisor/instruments/probes/gate_keeper.h"

#include <signal.h>
#include <sys/mman.h>

#include <utility>

#include "arch/native.h"
#include "supervisor/breakpoints/trap_handler.h"
#include "supervisor/instruments/handler_masks.h"
#include "supervisor/instruments/hidden_step.h"
#include "supervisor/instruments/sigtrap_action.h"
#include "supervisor/instruments/task_calls.h"
#include "supervisor/instruments/trap_origin.h"
#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using arch::NativeTrapHandler;
using core::Address;

SyscallRequest call_at(const BreakpointSite& gate, const ptrace::Registers& registers) {
  const auto [number, arguments] = gate.gate == Gate::at_function
                                       ? NativeTrapHandler::call_of_function(registers)
                                       : NativeTrapHandler::next_call(registers);
  return {number, arguments};
}

/// What the program has set itself stays.
void take_our_base_away(ProbedCode& code, pid_t tid, ptrace::Registers& registers) {
  const auto& space = code.copy_space();
  if (space != nullptr && space->slots && space->slots->has_base(tid)) {
    Native::set_counter_base(registers, 0);
  }
}

}  // namespace

GateKeeper::Made GateKeeper::make_call(Tracee& tracee, const SyscallRequest& call,
                                       const ptrace::Registers& registers) {
  ProbedCode& code = probed_code(*tracee.process);
  const pid_t tid = tracee.id.tid;
  if (!code.may_insert()) {
    return Made::no;  // given up just now: the kernel does it, once it has all masks again
  }
  if (probed_thread(tracee).mask.change(tid, call)) {
    return Made::yes;
  }
  switch (emulate_sigaction(*tracee.process, tid, call)) {
    case SigactionCall::emulated:
      return Made::yes;
    case SigactionCall::handler:
      // Were we killed in between: our handler stands as long as there are breakpoints.
      if (ptrace::set_registers(tid, registers)) {
        give_back_handler_masks(code, tid, true);
        maintenance_.remove_all_probes(tracee);
        (void)reset_trap_action(code, tid, true);
      }
      return Made::no;
    case SigactionCall::other:
      return make_sigaction(code, tracee, call, registers, MadeHere::where_needed) ? Made::yes
                                                                                   : Made::no;
  }
  return Made::no;
}

bool GateKeeper::serve(Tracee& tracee, BreakpointSite& gate, ptrace::Registers& registers) {
  ProbedCode& code = probed_code(*tracee.process);
  // Programs that call syscall(3) often do so to wait or to wake others.
  constexpr std::uint64_t kMostOfFunction = 2'000;
  if (gate.gate == Gate::behind_mmap) {
    return false;
  }
  SyscallRequest call = call_at(gate, registers);
  ++code.gate_hits();
  if (!keeps_all_) {
    maintenance_.give_up_where_dear(tracee);
  }
  if (gate.gate == Gate::at_number) {
    call.number = gate.gate_number;
  } else if (gate.gate == Gate::at_function && code.gate_hits() > kMostOfFunction) {
    (void)code.remove(gate);
  }
  if (const auto task = make_child_traced(tracee.id.tid, call)) {
    probed_thread(tracee).clears_handlers = task->clears_handlers;
    if (task->first_argument != call.arguments[0]) {
      if (gate.gate == Gate::at_function) {
        NativeTrapHandler::set_function_arguments(registers, task->first_argument,
                                                  call.arguments[1], call.arguments[2]);
      } else {
        NativeTrapHandler::set_first_argument(registers, task->first_argument);
      }
    }
    return false;
  }
  if (gate.gate == Gate::at_number) {
    return false;
  }
  if (Native::syscall_name(static_cast<int>(call.number)).ends_with("mprotect")) {
    const Address begin{call.arguments[0]};
    const core::AddressRange range{begin, begin + call.arguments[1]};
    if ((call.arguments[2] & PROT_WRITE) != 0) {
      maintenance_.expect_writes(tracee, range);
    } else if ((call.arguments[2] & PROT_EXEC) != 0 && code.is_instrumented(range)) {
      probed_thread(tracee).ends_writes = range;
    }
    return false;
  }
  if (NativeTrapHandler::uses_counter_segment({call.number, call.arguments})) {
    maintenance_.leave_counter_segment(tracee);
    take_our_base_away(code, tracee.id.tid, registers);
    return false;
  }
  const bool is_made = make_call(tracee, call, registers) == Made::yes;
  give_up_where_hot(tracee);
  if (!is_made) {
    return false;
  }
  if (gate.gate == Gate::at_function) {
    // Without pointers the kernel changes nothing and returns 0.
    NativeTrapHandler::set_function_arguments(registers, call.arguments[0], 0, 0);
    return false;
  }
  NativeTrapHandler::finish_call(registers, 0);
  Native::set_pc(registers, gate.instruction.next());
  return true;
}

/// A program that changes its masks all the time pays for each change.
void GateKeeper::give_up_where_hot(Tracee& tracee) {
  constexpr std::uint64_t kFew = 2'000;
  ProbedCode& code = probed_code(*tracee.process);
  if (!keeps_all_ && code.gate_hits() > kFew && costs_.is_exceeded() &&
      code.gate_hits() > code.executions() / 2) {
    maintenance_.give_up(tracee, "changes its signal masks too often");
  }
}

bool GateKeeper::begin_delivery(Tracee& tracee, int signal) {
  if (tracee.process->code_state == nullptr) {
    return false;
  }
  ProbedCode& code = probed_code(*tracee.process);
  probed_thread(tracee).mask.begin_delivery(tracee.id.tid);
  const auto hidden = code.signal_handlers().hidden_handler(static_cast<std::uint64_t>(signal));
  const bool needs_stop =
      signal != SIGTRAP && code.trap_handler().is_installed &&
      (hidden || (code.may_insert() && code.signal_handlers().needs_stop(signal)));
  if (needs_stop && !has_handler(tracee.id.tid, signal)) {
    // A step would last as long as the call that the thread goes back to, and, if it is stopped by
    // SIGSTOP, longer than we are there: its trap would end that call.
    code.signal_handlers().learn(signal, SignalHandlers::Kind::none);
    return false;
  }
  const auto registers = needs_stop ? ptrace::registers(tracee.id.tid) : core::fail("");
  probed_thread(tracee).delivering = registers ? signal : 0;
  probed_thread(tracee).hidden_handler = hidden;
  if (registers) {
    probed_thread(tracee).delivered_at = Native::pc(*registers);
  }
  return registers.has_value();
}

void GateKeeper::end_delivery(Tracee& tracee, bool at_handler) {
  ProbedThread& thread = probed_thread(tracee);
  const int signal = std::exchange(thread.delivering, 0);
  using Kind = SignalHandlers::Kind;
  Kind kind = Kind::none;
  if (!at_handler) {
    if (auto registers = ptrace::registers(tracee.id.tid)) {
      hide_step(probed_code(*tracee.process), tracee.id.tid, thread.delivered_at, *registers);
    }
  } else {
    // It may be another one by now, where nobody sees it being set any more.
    const auto registers = ptrace::registers(tracee.id.tid);
    const bool is_hidden =
        thread.hidden_handler && registers && Native::pc(*registers) == *thread.hidden_handler;
    kind =
        thread.mask.enter_handler(tracee.id.tid, is_hidden) ? Kind::blocks_trap : Kind::leaves_trap;
    if (!probed_code(*tracee.process).may_insert()) {
      thread.mask.leave_to_program(tracee.id.tid);
      thread.mask_is_known = false;
    }
  }
  probed_code(*tracee.process).signal_handlers().learn(signal, kind);
}

bool GateKeeper::break_off_delivery(Tracee& tracee) {
  ProbedThread& thread = probed_thread(tracee);
  if (thread.delivering == 0) {
    return false;
  }
  if (is_at_handler(tracee.id.tid)) {
    end_delivery(tracee, true);
  }
  thread.delivering = 0;
  return true;
}

}  // namespace sp::supervisor
