#include <signal.h>

#include "supervisor/instruments/detach.h"
#include "supervisor/instruments/probes/copied_code.h"
#include "supervisor/instruments/probes/copied_threads.h"
#include "supervisor/instruments/probes/probe_counter.h"
#include "supervisor/instruments/probes/probe_maintenance.h"
#include "supervisor/instruments/probes/written_probes.h"
#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {

// ---- requests, letting go, and results

void ProbeCounter::serve(const core::TraceRequest& request) {
  if (switch_) {
    switch_->serve(request);
  }
}

/// Asked for in a stop at a probe it would show what comes behind that.
bool ProbeCounter::biases_sample(const Tracee& tracee, core::TimePoint asked_at) const {
  const ProbedThread::Hit& hit = probed_thread(tracee).last_hit;
  return asked_at >= hit.begin && asked_at <= hit.end;
}

void ProbeCounter::connect_trace() {
  if (promotion_.is_wanted()) {
    trace_->use_copies(tracees_);
  }
  trace_->on_switch(
      [this](core::TraceAction action, const Tracee* hit) { switch_->on_trigger(action, hit); });
  if (options_.learn_for) {
    learning_.emplace(*options_.learn_for, *options_.analysis, costs_, tracees_);
    trace_->tell(*learning_);
  }
}

ForkOrigin ProbeCounter::origin_of(const Tracee& parent) const {
  const ProbedThread& thread = probed_thread(parent);
  ForkOrigin origin{std::static_pointer_cast<InstrumentedCode>(parent.process->code_state), 0,
                    thread.mask.blocks_trap(), thread.clears_handlers};
  const auto& state = probed_code(*parent.process).trace();
  if (state && state->recorder != nullptr) {
    (void)state->recorder->read_copies(parent, true);
  }
  if (thread.trace != nullptr) {
    origin.stack = thread.trace->stack();
    for (const ThreadTrace::OpenCall& call : thread.trace->open_on_stack()) {
      origin.open_calls.push_back({call.function, {call.sp, call.site}});
    }
  }
  return origin;
}

void ProbeCounter::inherit(Tracee& tracee, const ForkOrigin& origin) {
  probed_thread(tracee).mask.inherit_mask(tracee.id.tid, origin.blocks_trap);
  const auto& code = tracee.process->code_state;
  const bool has_copy = code != nullptr && code != origin.code;
  if (trace_ && has_copy && probed_thread(tracee).counted && probed_code(*tracee.process).trace()) {
    for (const auto& [function, frame] : origin.open_calls) {
      trace_->note_open(tracee, function, frame, core::Clock::now(), origin.stack);
    }
  }
}

void ProbeCounter::flush(const TracedProcess& process, core::ThreadId thread) {
  if (learning_) {
    learning_->tell();
  }
  modules_.flush(process, thread);
}

void ProbeCounter::on_exit(Tracee& tracee) {
  if (trace_) {
    (void)trace_->read_copies(tracee, true);
  }
  end_in_function_copy(tracee);
  const bool is_leader = tracee.id.tid == tracee.process->id.pid;
  if (is_leader && (trace_ || options_.coverage != core::Coverage::off)) {
    end_overwritten_at_exit(probed_code(*tracee.process), tracee.id.tid);
  }
  if (!trace_ && !calls_ && options_.coverage == core::Coverage::off) {
    HitCounter::count_last_block(tracee, core::Clock::now());
  }
}

bool ProbeCounter::on_round() {
  if (!trace_ || !trace_->uses_copies()) {
    return false;
  }
  bool are_many = false;
  for (const auto& [tid, tracee] : tracees_.all()) {
    if (tracee.process->code_state != nullptr && tracee.thread_state != nullptr) {
      are_many |= trace_->read_copies(tracee, false);
      trace_->flush_if_due(probed_code(*tracee.process));
    }
  }
  return are_many;
}

void ProbeCounter::restore(const TracedProcess& process) {
  if (process.code_state != nullptr) {
    promotion_.demote_all(process, nullptr);
    if (learning_) {
      learning_->tell();
    }
    if (trace_) {
      FunctionTrace::finish(process, core::TraceEventKind::off, core::Clock::now());
      if (probed_code(process).may_insert()) {
        switch_->remove_all(process, true);
      }
    }
  }
  Instrument::restore(process);
}

/// Where no sample came nobody has read the maps since the loader mapped the libraries, to which
/// the program's code returns.
bool ProbeCounter::wants_last_maps(const TracedProcess& process) const {
  return process.code_state != nullptr && process.from_start;
}

bool ProbeCounter::on_group_stop(Tracee& tracee) {
  ProbedThread& thread = probed_thread(tracee);
  return show_mask(probed_code(*tracee.process), tracee.id.tid, thread.was_stepped, thread.mask);
}

bool ProbeCounter::make_detachable(Tracee& tracee, bool may_call) {
  if (tracee.process->code_state == nullptr) {
    probed_thread(tracee).mask.restore(tracee.id.tid);
    return true;
  }
  on_other_stop(tracee);
  ProbedThread& thread = probed_thread(tracee);
  leave_function_copy(tracee);
  if (thread.counts_in != nullptr && thread.counts_in->slots->has_base(tracee.id.tid)) {
    (void)set_counter_base(tracee.id.tid, 0);
  }
  return prepare_to_detach(probed_code(*tracee.process), tracee, thread.mask,
                           {thread.was_stepped, may_call});
}

void ProbeCounter::resume_to_detach(Tracee& tracee, int signal) {
  const pid_t tid = tracee.id.tid;
  if (signal != 0 && signal != SIGTRAP && has_handler(tid, signal) && !waits_with_other_mask(tid)) {
    give_mask_back(tracee);  // the handler's return shall find it
  }
  const bool is_stepped = signal != 0 && GateKeeper::begin_delivery(tracee, signal);
  (void)(is_stepped ? ptrace::step(tracee.id.tid, signal) : ptrace::resume(tracee.id.tid, signal));
}

void ProbeCounter::fill(core::RunFacts& facts) const {
  core::Probing& probing = facts.probing.emplace();
  counter_.fill(probing);
  probing.uncounted_programs = maintenance_.uncounted_programs();
  probing.windows = exploration_.windows();
  probing.steps = exploration_.steps();
  probing.cost = costs_.spent();
  promotion_.fill(probing.copying);
  const CopyUse used = modules_.used_copies();
  probing.copying.executions = used.executions;
  probing.copying.branches = used.branches;
  probing.copying.arrivals = used.arrivals;
  probing.copying.transfers = used.transfers;
  if (trace_) {
    trace_->fill(facts.trace.emplace());
    facts.trace->times_off = switch_->times_off();
    facts.trace->learned = learning_ ? learning_->dropped() : 0;
  }
  facts.cost.is_share_minimum = probing.cost > facts.cost.target_cpu / 3;
}

}  // namespace sp::supervisor
