#include "supervisor/instruments/probes/probe_hits.h"

#include <optional>
#include <utility>

#include "arch/native.h"
#include "supervisor/instruments/probes/call_counter.h"
#include "supervisor/instruments/probes/function_trace.h"
#include "supervisor/instruments/probes/restartable_probes.h"
#include "supervisor/instruments/probes/written_probes.h"
#include "supervisor/instruments/trap_origin.h"

namespace sp::supervisor {

using arch::Native;
using core::Address;

void ProbeHits::on_breakpoint(Tracee& tracee, BreakpointSite& site, ptrace::Registers& registers,
                              core::TimePoint now) {
  const Address at = site.instruction.address;
  ProbedCode& code = probed_code(*tracee.process);
  probed_thread(tracee).delivering = 0;  // to nobody: the step has come here
  probed_thread(tracee).ends_writes.reset();
  mark_trap(tracee.id.tid, registers);
  Native::set_pc(registers, at);
  if (code.is_in_loader_function(at)) {
    modules_.on_library_event(*tracee.process, tracee.id.tid);
    counter_.note_totals(code);
  }
  if (keeps_sequence_from_ending(tracee, at)) {
    remove_probes_of_sequence(tracee, now);
    (void)ptrace::set_registers(tracee.id.tid, registers);
    continue_thread(tracee);
    return;
  }
  if (!code.is_unchanged(site)) {
    leave_written_page(code, at, now);
    (void)ptrace::set_registers(tracee.id.tid, registers);
    continue_thread(tracee);
    return;
  }
  if (code.coverage() != nullptr && site.block != BreakpointSite::kSharedLibraryEvent &&
      on_new_code(tracee, site, registers, now)) {
    counter_.end_hit(tracee, now);
    return;
  }
  if (site.gate == Gate::behind_mmap) {
    modules_.on_mapping(*tracee.process, tracee.id.tid, registers);
    counter_.note_totals(code);
  }
  if (site.gate != Gate::none && on_gate(tracee, site, registers)) {
    counter_.end_hit(tracee, now, false);
    return;
  }
  if (site.copy != Address{}) {
    on_landing(tracee, site, registers, now);
    counter_.end_hit(tracee, now);
    return;
  }
  if (site.block == BreakpointSite::kNoBlock) {
    on_entry(tracee, site, registers, now);
    counter_.end_hit(tracee, now);
    return;
  }
  if (site.block == BreakpointSite::kSharedLibraryEvent) {
    on_library_event(tracee, site, registers);
    return;
  }
  ThreadMemory memory(tracee.id.tid);
  const Address sp = Native::sp(registers);
  if (code.trace() && code.trace()->calls != nullptr) {
    code.trace()->calls->look_at(tracee, site, registers);
  } else if (code.trace()) {
    code.trace()->recorder->look_at(tracee, site, registers);
  }
  if (Native::emulate(registers, site.code, memory) != arch::Emulated::done) {
    execute_displaced(tracee, site, registers, now);
    counter_.end_hit(tracee, now);
    return;
  }
  const Address to = Native::pc(registers);
  (void)ptrace::set_registers(tracee.id.tid, registers);
  count(tracee, site, sp, to, now);
  if (!probed_thread(tracee).window) {
    promotion_.run(tracee, now);
    continue_thread(tracee);
  } else if (exploration_.note_step(tracee, to)) {
    continue_thread(tracee);
  }
  counter_.end_hit(tracee, now);
}

void ProbeHits::count(Tracee& tracee, BreakpointSite& site, Address sp, std::optional<Address> to,
                      core::TimePoint now) {
  if (const auto& trace = probed_code(*tracee.process).trace()) {
    if (trace->calls != nullptr) {
      trace->calls->note(tracee, site, sp, to, now);
      return;
    }
    trace->recorder->note(tracee, site, sp, to, now);
    return;
  }
  counter_.count_block(tracee, site, now);
  if (to) {
    counter_.count_edge(tracee, site, *to, now);
  }
}

/// With --coverage.
bool ProbeHits::on_new_code(Tracee& tracee, BreakpointSite& site, ptrace::Registers& registers,
                            core::TimePoint now) {
  ProbedCode& code = probed_code(*tracee.process);
  const Address at = site.instruction.address;
  if (code.is_awaiting_entry(at)) {
    counter_.enter_function(code, at);
  }
  BreakpointSite* const probe = code.inserted_at(at);
  const bool is_block = probe != nullptr && probe->block != BreakpointSite::kNoBlock;
  if (is_block && !counter_.reach_block(code, *probe, now)) {
    return false;  // to be counted, as any probe
  }
  if (probe != nullptr && probe->gate != Gate::none) {
    return false;
  }
  if (probe != nullptr && !is_block) {
    (void)code.remove(*probe);  // not in a function any more
  }
  (void)ptrace::set_registers(tracee.id.tid, registers);
  continue_thread(tracee);
  return true;
}

/// Control comes to the original of a function that runs from a copy.
void ProbeHits::on_landing(Tracee& tracee, const BreakpointSite& site, ptrace::Registers& registers,
                           core::TimePoint now) {
  if (probed_thread(tracee).window) {
    exploration_.end(tracee);
  }
  FunctionCopies& copies = probed_code(*tracee.process).copies();
  if (const auto copy = copies.all().at(site.copy);
      copy != nullptr && probed_thread(tracee).counted) {
    copies.note_arrival(*copy, site.instruction.address);
  }
  Native::set_pc(registers, site.copy);
  (void)ptrace::set_registers(tracee.id.tid, registers);
  probed_thread(tracee).out_of_copy.reset();
  promotion_.note_landing(tracee, site.instruction.address, now);
  continue_thread(tracee);
}

void ProbeHits::on_entry(Tracee& tracee, BreakpointSite& site, ptrace::Registers& registers,
                         core::TimePoint now) {
  ProbedCode& code = probed_code(*tracee.process);
  const Address at = site.instruction.address;
  ProbedFunction* const function =
      promotion_.is_at_once(tracee, now) ? code.functions().at(at) : nullptr;
  if (function != nullptr) {
    function->awaits_copy = true;
  }
  counter_.enter_function(code, at);
  (void)ptrace::set_registers(tracee.id.tid, registers);
  if (function != nullptr) {
    promotion_.run_at_once(tracee, *function, now);
  }
  if (BreakpointSite* const left = code.inserted_at(at);
      left != nullptr && left->block == BreakpointSite::kNoBlock && left->gate == Gate::none &&
      left->copy == Address{}) {
    (void)code.remove(*left);  // not in a function any more
  }
  continue_thread(tracee);
}

bool ProbeHits::on_gate(Tracee& tracee, BreakpointSite& site, ptrace::Registers& registers) {
  const pid_t tid = tracee.id.tid;
  ProbedCode& code = probed_code(*tracee.process);
  const bool is_made = gates_.serve(tracee, site, registers);
  if (!is_made && site.inserted && site.block != BreakpointSite::kNoBlock) {
    return false;
  }
  if (!is_made && code.is_awaiting_entry(site.instruction.address)) {
    counter_.enter_function(code, site.instruction.address);
  }
  ThreadMemory memory(tid);
  if (!is_made && site.inserted &&
      Native::emulate(registers, site.code, memory) != arch::Emulated::done) {
    const auto copy = code.copy_of(site, tid);
    if (!copy || probed_thread(tracee).ends_writes) {
      probed_thread(tracee).displaced.begin(code, site, copy, tid, registers);
      (void)ptrace::step(tid, 0);
      return true;
    }
    Native::set_pc(registers, *copy);
  }
  (void)ptrace::set_registers(tid, registers);
  continue_thread(tracee);
  return true;
}

void ProbeHits::on_library_event(Tracee& tracee, BreakpointSite& site,
                                 ptrace::Registers& registers) {
  ThreadMemory memory(tracee.id.tid);
  if (Native::emulate(registers, site.code, memory) != arch::Emulated::done) {
    (void)probed_code(*tracee.process).remove(site);
  }
  (void)ptrace::set_registers(tracee.id.tid, registers);
  continue_thread(tracee);
}

void ProbeHits::execute_displaced(Tracee& tracee, BreakpointSite& site,
                                  ptrace::Registers& registers, core::TimePoint now) {
  const pid_t tid = tracee.id.tid;
  ProbedThread& thread = probed_thread(tracee);
  ProbedCode& code = probed_code(*tracee.process);
  const auto copy = code.copy_of(site, tid);
  if (!copy || core::ends_block(site.instruction.flow)) {
    thread.displaced.begin(code, site, copy, tid, registers);
    (void)ptrace::step(tid, 0);
    return;
  }
  // Runs freely through the copy and the jump back behind it.
  Native::set_pc(registers, *copy);
  (void)ptrace::set_registers(tid, registers);
  count(tracee, site, Native::sp(registers), std::nullopt, now);
  if (thread.window) {
    exploration_.end(tracee);
  }
  (void)ptrace::resume(tid, 0);
}

void ProbeHits::on_step(Tracee& tracee, ptrace::Registers& registers, core::TimePoint now) {
  const Address pc = Native::pc(registers);
  ProbedThread& thread = probed_thread(tracee);
  ProbedCode& code = probed_code(*tracee.process);
  if (thread.displaced.is_active()) {
    if (thread.displaced.is_in_copy(code, pc)) {
      (void)ptrace::step(tracee.id.tid, 0);
      return;
    }
    BreakpointSite* const site = code.inserted_at(thread.displaced.finish(code));
    if (site != nullptr && site->block != BreakpointSite::kNoBlock) {
      count(tracee, *site, Native::sp(registers), pc, now);
    }
    if (const auto written = std::exchange(thread.ends_writes, std::nullopt)) {
      modules_.read_written(*tracee.process, tracee.id.tid, *written);
    }
    if (thread.window && !exploration_.note_step(tracee, pc)) {
      return;
    }
  } else {
    exploration_.hide_step(tracee, registers);
    costs_.add_work(core::Clock::now() - now);
    if (!exploration_.note_step(tracee, pc)) {
      return;
    }
  }
  continue_thread(tracee);
  counter_.end_hit(tracee, now);
}

void ProbeHits::continue_thread(const Tracee& tracee) {
  const ProbedThread& thread = probed_thread(tracee);
  (void)(thread.displaced.is_active() || thread.window ? ptrace::step(tracee.id.tid, 0)
                                                       : ptrace::resume(tracee.id.tid, 0));
}

}  // namespace sp::supervisor
