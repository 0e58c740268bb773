#include "supervisor/instruments/probes/probe_counter.h"

#include <signal.h>

#include <utility>

#include "arch/native.h"
#include "supervisor/breakpoints/trap_handler.h"
#include "supervisor/instruments/detach.h"
#include "supervisor/instruments/trap_origin.h"

namespace sp::supervisor {
namespace {

using arch::Native;
using core::Address;

}  // namespace

ProbeCounter::ProbeCounter(ProbeOptions options, Outbox& outbox, Guardian& guardian,
                           CostMeter& meter, SampleTimer& timer)
    : options_(options),
      guardian_(guardian),
      costs_(options.overhead_percent, meter, timer),
      modules_(*options.analysis, outbox, costs_),
      exploration_(outbox),
      counter_(costs_, options.keep_hot_probes),
      maintenance_(modules_, costs_, counter_, exploration_) {}

// ---- who comes and goes

void ProbeCounter::begin_process(TracedProcess& process, pid_t tid, bool from_start) {
  process.code_state = std::make_shared<ProbedCode>(process.id, tid, *options_.analysis, guardian_,
                                                    options_.derives);
  // Probes cost more than most children use: these get theirs with their first sample.
  if (named_ == 0) {
    named_ = process.id.pid;
  }
  process.is_named = options_.keep_hot_probes || process.id.pid == named_;
  process.from_start = from_start && process.is_named;
  maintenance_.note_program();
}

std::shared_ptr<InstrumentedCode> ProbeCounter::copy_code(const TracedProcess& child, pid_t tid,
                                                          const ForkOrigin& origin) const {
  auto code = std::make_shared<ProbedCode>(child.id, tid, static_cast<ProbedCode&>(*origin.code));
  // Its handler is its parent's: most children are gone before that needs a look.
  code->trap_handler().look_later(core::Clock::now());
  if (!code->trap_handler().tried) {
    maintenance_.note_program();
  }
  return code;
}

ForkOrigin ProbeCounter::origin_of(const Tracee& parent) const {
  return {std::static_pointer_cast<InstrumentedCode>(parent.process->code_state), 0, false};
}

void ProbeCounter::add_thread(Tracee& tracee, bool counted) {
  auto thread = std::make_unique<ProbedThread>();
  thread->counted = counted;
  tracee.thread_state = std::move(thread);
}

void ProbeCounter::inherit(Tracee& /*tracee*/, const ForkOrigin& /*origin*/) {}

// ---- stops

bool ProbeCounter::on_trap(Tracee& tracee, core::TimePoint now) {
  const pid_t tid = tracee.id.tid;
  ProbedThread& thread = probed_thread(tracee);
  const bool was_stepped = std::exchange(thread.was_stepped, false);
  auto registers = ptrace::registers(tid);
  if (!registers) {
    (void)ptrace::resume(tid, 0);  // it was killed
    return true;
  }
  const auto [origin, site] = trap_origin(probed_code(*tracee.process), tid, *registers);
  switch (origin) {
    case TrapOrigin::breakpoint:
      on_breakpoint(tracee, *site, *registers, now);
      return true;
    case TrapOrigin::removed_breakpoint:
      continue_thread(tracee);
      return true;
    case TrapOrigin::step:
      if (thread.displaced.is_active() || thread.window) {
        on_step(tracee, *registers, now);
        return true;
      }
      if (was_stepped) {
        continue_thread(tracee);  // what stopped it has ended the window
      }
      return was_stepped;
    case TrapOrigin::handler_entry:
    case TrapOrigin::target:
      return false;
    case TrapOrigin::thread_gone:
      (void)ptrace::resume(tid, 0);
      return true;
  }
  return false;
}

void ProbeCounter::on_breakpoint(Tracee& tracee, BreakpointSite& site, ptrace::Registers& registers,
                                 core::TimePoint now) {
  const Address at = site.instruction.address;
  const Address trap = Native::pc(registers);
  ProbedCode& code = probed_code(*tracee.process);
  Native::set_pc(registers, at);
  (void)ptrace::mark_trap(tracee.id.tid, trap);
  if (code.is_in_loader_function(at)) {
    modules_.update(*tracee.process, tracee.id.tid, ModuleProbes::When::at_load);
    counter_.note_totals(code);
  }
  if (site.block == BreakpointSite::kNoBlock) {
    on_entry(tracee, site, registers);
    counter_.end_hit(tracee, now);
    return;
  }
  if (site.block == BreakpointSite::kSharedLibraryEvent) {
    on_library_event(tracee, site, registers);
    return;
  }
  ThreadMemory memory(tracee.id.tid);
  if (Native::emulate(registers, site.code, memory) != arch::Emulated::done) {
    execute_displaced(tracee, site, registers, now);
    counter_.end_hit(tracee, now);
    return;
  }
  const Address to = Native::pc(registers);
  (void)ptrace::set_registers(tracee.id.tid, registers);
  counter_.count_block(tracee, site, now);
  counter_.count_edge(tracee, site, to, now);
  if (!probed_thread(tracee).window || exploration_.note_step(tracee, to)) {
    continue_thread(tracee);
  }
  counter_.end_hit(tracee, now);
}

void ProbeCounter::on_entry(Tracee& tracee, BreakpointSite& site, ptrace::Registers& registers) {
  ProbedCode& code = probed_code(*tracee.process);
  const Address at = site.instruction.address;
  counter_.enter_function(code, at);
  if (BreakpointSite* const left = code.inserted_at(at);
      left != nullptr && left->block == BreakpointSite::kNoBlock) {
    (void)code.remove(*left);  // not in a function any more
  }
  (void)ptrace::set_registers(tracee.id.tid, registers);
  continue_thread(tracee);
}

void ProbeCounter::on_library_event(Tracee& tracee, BreakpointSite& site,
                                    ptrace::Registers& registers) {
  ThreadMemory memory(tracee.id.tid);
  if (Native::emulate(registers, site.code, memory) != arch::Emulated::done) {
    (void)probed_code(*tracee.process).remove(site);
  }
  (void)ptrace::set_registers(tracee.id.tid, registers);
  continue_thread(tracee);
}

void ProbeCounter::execute_displaced(Tracee& tracee, BreakpointSite& site,
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
  counter_.count_block(tracee, site, now);
  if (thread.window) {
    exploration_.end(tracee);
  }
  (void)ptrace::resume(tid, 0);
}

void ProbeCounter::on_step(Tracee& tracee, ptrace::Registers& registers, core::TimePoint now) {
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
      counter_.count_block(tracee, *site, now);
      counter_.count_edge(tracee, *site, pc, now);
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

void ProbeCounter::on_syscall(Tracee& tracee, core::TimePoint /*now*/) {
  on_other_stop(tracee);  // asked for by nobody
  continue_thread(tracee);
}

void ProbeCounter::on_other_stop(Tracee& tracee) {
  ProbedThread& thread = probed_thread(tracee);
  ProbedCode& code = probed_code(*tracee.process);
  thread.resumed_at = {};
  thread.was_stepped = thread.was_stepped || thread.displaced.is_active() || thread.window;
  if (thread.displaced.is_active()) {
    thread.displaced.cancel(code, tracee.id.tid);
  } else if (const auto left = leave_copy(code, tracee.id.tid); left && !left->executed) {
    HitCounter::take_back(tracee, left->site);
  }
  if (thread.window) {
    exploration_.end(tracee);
  }
}

void ProbeCounter::on_user_stop(Tracee& tracee, UserStop stop, core::TimePoint /*now*/) {
  if (stop == UserStop::interrupt && tracee.process->from_start && !options_.begins_with_samples) {
    maintenance_.run(tracee, false);
  }
}

bool ProbeCounter::may_deliver_trap(Tracee& tracee) {
  return probed_thread(tracee).mask.may_deliver(tracee.id.tid);
}

void ProbeCounter::on_sample(Tracee& tracee) { maintenance_.run(tracee, true); }

/// Asked for in a stop at a probe it would show what comes behind that.
bool ProbeCounter::biases_sample(const Tracee& tracee, core::TimePoint asked_at) const {
  const ProbedThread::Hit& hit = probed_thread(tracee).last_hit;
  return asked_at >= hit.begin && asked_at <= hit.end;
}

// ---- letting go, and results

void ProbeCounter::continue_thread(const Tracee& tracee) {
  const ProbedThread& thread = probed_thread(tracee);
  (void)(thread.displaced.is_active() || thread.window ? ptrace::step(tracee.id.tid, 0)
                                                       : ptrace::resume(tracee.id.tid, 0));
}

void ProbeCounter::resume(Tracee& tracee, int signal) {
  if (signal == SIGTRAP && tracee.process->code_state != nullptr &&
      reset_trap_action(probed_code(*tracee.process), tracee.id.tid)) {
    maintenance_.remove_all_probes(tracee);
  }
  if (signal != 0 && probed_thread(tracee).window) {
    exploration_.end(tracee);
  }
  if (signal == 0 && probed_thread(tracee).window) {
    (void)ptrace::step(tracee.id.tid, 0);
  } else {
    (void)ptrace::resume(tracee.id.tid, signal);
  }
}

/// Where no sample came nobody has read the maps since the loader mapped the libraries, to which
/// the program's code returns.
bool ProbeCounter::wants_last_maps(const TracedProcess& process) const {
  return process.code_state != nullptr && process.from_start && process.samples == 0;
}

bool ProbeCounter::make_detachable(Tracee& tracee, bool may_call) {
  if (tracee.process->code_state == nullptr) {
    return true;
  }
  on_other_stop(tracee);
  ProbedThread& thread = probed_thread(tracee);
  return prepare_to_detach(probed_code(*tracee.process), tracee, thread.mask,
                           {thread.was_stepped, may_call});
}

void ProbeCounter::fill(core::RunFacts& facts) const {
  core::Probing& probing = facts.probing.emplace();
  counter_.fill(probing);
  probing.uncounted_programs = maintenance_.uncounted_programs();
  probing.windows = exploration_.windows();
  probing.steps = exploration_.steps();
  probing.cost = costs_.spent();
  facts.cost.is_share_minimum = probing.cost > facts.cost.target_cpu / 3;
}

}  // namespace sp::supervisor
