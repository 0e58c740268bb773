#include "supervisor/instruments/exact/exact_counter.h"

#include <signal.h>

#include <utility>

#include "arch/native.h"
#include "supervisor/breakpoints/edge_flow.h"
#include "supervisor/breakpoints/trap_handler.h"
#include "supervisor/instruments/detach.h"
#include "supervisor/instruments/exact/finished_step.h"
#include "supervisor/instruments/hidden_step.h"
#include "supervisor/instruments/sigtrap_action.h"
#include "supervisor/instruments/trap_origin.h"
#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {

using arch::Native;
using core::Address;
using core::EdgeFlow;
using core::Flow;

ExactCounter::ExactCounter(ExactOptions options, Outbox& outbox, Guardian& guardian)
    : options_(options),
      guardian_(guardian),
      collect_(options.collects),
      flow_(outbox, collect_),
      syscalls_(flow_),
      runner_(flow_) {}

// ---- stops

bool ExactCounter::on_trap(Tracee& tracee, core::TimePoint now) {
  CountedThread& thread = counted_thread(tracee);
  CountedCode& code = counted_code(*tracee.process);
  auto registers = ptrace::registers(tracee.id.tid);
  if (!registers) {
    (void)ptrace::resume(tracee.id.tid, 0);  // it was killed
    return true;
  }
  ++stops_;
  const auto [origin, site] = trap_origin(code, tracee.id.tid, *registers);
  switch (origin) {
    case TrapOrigin::breakpoint:
      on_breakpoint(tracee, *site, *registers, now);
      return true;
    case TrapOrigin::removed_breakpoint:
      runner_.resume(tracee, 0);
      return true;
    case TrapOrigin::handler_entry:
      if (!thread.delivering) {
        return false;
      }
      on_handler_entry(tracee, *registers, now);
      return true;
    case TrapOrigin::step:
      if (thread.stepped || thread.delivering || thread.displaced.is_active()) {
        on_step(tracee, *registers, now);
        return true;
      }
      // Of a step that nobody waits for any more: it would kill the target. A program that steps
      // itself has a handler of its own, and gets its last trap when it has cleared the flag.
      if (code.trap_handler().is_installed && !Native::steps_itself(*registers)) {
        runner_.resume(tracee, 0);
        return true;
      }
      return false;
    case TrapOrigin::target:
      return false;
    case TrapOrigin::thread_gone:
      (void)ptrace::resume(tracee.id.tid, 0);
      return true;
  }
  return false;
}

void ExactCounter::on_breakpoint(Tracee& tracee, BreakpointSite& site, ptrace::Registers& registers,
                                 core::TimePoint now) {
  CountedThread& thread = counted_thread(tracee);
  const pid_t tid = tracee.id.tid;
  thread.delivering = false;
  const Address at = site.instruction.address;
  mark_trap(tid, registers);
  Native::set_pc(registers, at);
  if (!thread.begun) {
    thread.begun = true;
    flow_.enter(tracee, at, now);
  }
  if (site.instruction.flow == Flow::syscall) {
    on_gate(tracee, site, registers);
    return;
  }
  if (thread.displaced.end_of_sequence()) {
    runner_.leave_sequence(tracee, site, registers, now);
    runner_.continue_thread(tracee);
    return;
  }
  ThreadMemory memory(tid);
  const bool emulated = Native::emulate(registers, site.code, memory) == arch::Emulated::done;
  const Address to = Native::pc(registers);
  if (!emulated) {
    if (!runner_.run_sequence(tracee, registers)) {
      CountedCode& code = counted_code(*tracee.process);
      thread.displaced.begin(code, site, code.copy_of(site, tid), tid, registers);
      runner_.continue_thread(tracee);
    }
    return;
  }
  collect_.arrive(tracee, registers);
  EdgeCounts::Edge* const known = site.edge_cache.find(to);
  if (known != nullptr && thread.counts()) {
    EdgeCounts::count(*known, now);
    thread.stepped = false;
    (void)ptrace::set_registers(tid, registers);
    (void)ptrace::resume_to_syscall(tid, 0);
    return;
  }
  EdgeCounts::Edge* const edge =
      flow_.cross(tracee, at, to, edge_flow(site.instruction, to), now, &registers);
  if (edge != nullptr) {
    site.edge_cache.remember(to, *edge);
  }
  (void)ptrace::set_registers(tid, registers);
  runner_.continue_thread(tracee);
}

void ExactCounter::on_gate(Tracee& tracee, BreakpointSite& gate, ptrace::Registers& registers) {
  if (!SyscallEffects::emulate_at_gate(tracee, gate, registers)) {
    (void)counted_code(*tracee.process).remove(gate);  // other calls are made there too
  }
  (void)ptrace::set_registers(tracee.id.tid, registers);
  runner_.continue_thread(tracee);
}

void ExactCounter::on_step(Tracee& tracee, ptrace::Registers& registers, core::TimePoint now) {
  const Address pc = Native::pc(registers);
  CountedThread& thread = counted_thread(tracee);
  CountedCode& code = counted_code(*tracee.process);
  const bool was_delivery = std::exchange(thread.delivering, false);
  thread.mask.hide(tracee.id.tid);
  if (thread.displaced.is_active()) {
    if (thread.displaced.is_in_copy(code, pc)) {
      (void)ptrace::step(tracee.id.tid, 0);
      return;
    }
    const Address at = thread.displaced.finish(code);
    const BreakpointSite* const site = code.inserted_at(at);
    flow_.cross(tracee, at, pc,
                site != nullptr ? edge_flow(site->instruction, pc) : EdgeFlow::indirect, now,
                &registers);
  } else if (thread.stepped) {
    const auto done = finish_step(code, tracee.id.tid, thread.next, registers);
    if (done && core::ends_block(done->flow)) {
      flow_.cross(tracee, done->address, pc, edge_flow(*done, pc), now, &registers);
    } else if (done && (pc == done->next() || pc == done->address)) {
      thread.next = code.decode(pc);  // or one more round of a rep
    } else {
      flow_.enter(tracee, pc, now, &registers);
    }
  } else if (was_delivery) {  // of a signal without a handler
    hide_step(code, tracee.id.tid, thread.interrupted_at, registers);
  }
  runner_.continue_thread(tracee);
}

void ExactCounter::on_handler_entry(Tracee& tracee, const ptrace::Registers& registers,
                                    core::TimePoint now) {
  constexpr std::size_t kDeepest = 64;
  CountedThread& thread = counted_thread(tracee);
  thread.delivering = false;
  if (thread.interrupted.size() == kDeepest) {
    thread.interrupted.erase(thread.interrupted.begin());  // handlers that are left by longjmp
  }
  thread.interrupted.push_back({thread.interrupted_at, thread.stepped});
  thread.begin_handler(tracee.id.tid);
  flow_.enter(tracee, Native::pc(registers), now, &registers);
  runner_.continue_thread(tracee);
}

void ExactCounter::on_syscall(Tracee& tracee, core::TimePoint now) {
  ++stops_;
  syscalls_.on_stop(tracee, now);
  runner_.continue_thread(tracee);
}

void ExactCounter::on_other_stop(Tracee& tracee) {
  ++stops_;
  CountedThread& thread = counted_thread(tracee);
  if (std::exchange(thread.delivering, false) && is_at_handler(tracee.id.tid)) {
    thread.begin_handler(tracee.id.tid);
  }
  if (thread.displaced.is_active()) {
    runner_.cancel_displaced(tracee);
  }
}

bool ExactCounter::on_group_stop(Tracee& tracee) {
  CountedThread& thread = counted_thread(tracee);
  return show_mask(counted_code(*tracee.process), tracee.id.tid, thread.begun, thread.mask);
}

void ExactCounter::on_user_stop(Tracee& tracee, UserStop /*stop*/, core::TimePoint now) {
  const CountedCode& code = counted_code(*tracee.process);
  if (counted_thread(tracee).begun ||
      (!code.trap_handler().tried && postpone_calls(tracee.id.tid))) {
    return;
  }
  const auto registers = ptrace::registers(tracee.id.tid);
  if (!registers) {
    return;
  }
  const Address pc = Native::pc(*registers);
  // A thread that is about to report a breakpoint begins there.
  if (!trap_is_pending(code, tracee.id.tid, pc, false) && !is_let_go(tracee)) {
    begin_thread(tracee, pc, now);
  }
}

bool ExactCounter::may_deliver_trap(Tracee& tracee) {
  return may_deliver_sent_trap(*tracee.process, counted_thread(tracee).mask, tracee.id.tid);
}

// ---- letting go, and results

void ExactCounter::resume(Tracee& tracee, int signal) { runner_.resume(tracee, signal); }

void ExactCounter::flush(const TracedProcess& process, core::ThreadId thread) {
  flow_.flush(process, thread);
}

bool ExactCounter::make_detachable(Tracee& tracee, bool may_call) {
  CountedThread& thread = counted_thread(tracee);
  if (tracee.process->code_state == nullptr) {
    thread.mask.give_back(tracee.id.tid);
    return true;
  }
  if (thread.displaced.is_active()) {
    runner_.cancel_displaced(tracee);
  }
  return prepare_to_detach(counted_code(*tracee.process), tracee, thread.mask,
                           {thread.begun, may_call});
}

void ExactCounter::resume_to_detach(Tracee& tracee, int signal) {
  if (signal == 0 || signal == SIGTRAP || !has_handler(tracee.id.tid, signal)) {
    (void)ptrace::resume(tracee.id.tid, signal);
  } else {
    runner_.resume(tracee, signal);
  }
}

void ExactCounter::fill(core::RunFacts& facts) const {
  facts.cost.stops = stops_;
  facts.cost.is_share_known = false;
}

}  // namespace sp::supervisor
