#include "supervisor/instruments/probes/probe_counter.h"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "arch/native.h"
#include "supervisor/breakpoints/trap_handler.h"
#include "supervisor/instruments/detach.h"
#include "supervisor/instruments/handler_masks.h"
#include "supervisor/instruments/probes/copied_code.h"
#include "supervisor/instruments/probes/copied_threads.h"
#include "supervisor/instruments/probes/coverage.h"
#include "supervisor/instruments/sigtrap_action.h"
#include "supervisor/instruments/trap_origin.h"

namespace sp::supervisor {
namespace {

using arch::Native;

/// Who wants a trace of a short program wants all of it.
constexpr core::Duration kFirstOfTrace = std::chrono::seconds(1);

bool is_coverage(const ProbeOptions& options) { return options.coverage != core::Coverage::off; }

}  // namespace

ProbeCounter::ProbeCounter(ProbeOptions options, Outbox& outbox, Guardian& guardian,
                           CostMeter& meter, SampleTimer& timer, TraceeTable& tracees,
                           TraceRequests& trace_requests)
    : options_(options),
      coverage_(options.coverage),
      guardian_(guardian),
      costs_(options.overhead_percent,
             options.trace || options.calls ? kFirstOfTrace : ProbeBudget::kFirstAllowance, meter,
             timer),
      modules_(*options.analysis, outbox, costs_, tracees),
      exploration_(outbox),
      counter_(costs_, options.keep_hot_probes),
      promotion_(*options.analysis, costs_, tracees, options.copies && !options.derives,
                 options.keep_hot_probes || options.copies_at_once),
      maintenance_(modules_, costs_, counter_, exploration_, promotion_),
      tracees_(tracees),
      gates_(maintenance_, costs_, options.keep_hot_probes),
      hits_(modules_, costs_, counter_, exploration_, gates_, promotion_) {
  if (options.calls) {
    calls_.emplace(*options.calls, outbox, counter_);
  } else if (options.trace) {
    trace_.emplace(*options.trace, std::move(options.triggers), outbox, counter_, trace_requests);
    switch_.emplace(TraceSwitch::Parts{*trace_, modules_, maintenance_, tracees, trace_requests},
                    options.begins_off);
    connect_trace();
  }
}

// ---- who comes and goes

void ProbeCounter::begin_process(TracedProcess& process, pid_t tid, bool from_start) {
  process.code_state =
      std::make_shared<ProbedCode>(process.id, tid, *options_.analysis, guardian_, options_.derives,
                                   is_coverage(options_) ? &coverage_ : nullptr);
  if (calls_) {
    probed_code(process).trace() = calls_->new_state();
  } else if (trace_) {
    probed_code(process).trace() = switch_->new_state();
    switch_->begin(probed_code(process));
  }
  if (promotion_.is_wanted()) {
    probed_code(process).hot_functions().enable();
  }
  inherit_action(process);
  probed_code(process).has_unknown_frames() = !from_start;
  // Probes cost more than most children use: these get theirs with their first sample.
  if (named_ == 0) {
    named_ = process.id.pid;
  }
  process.is_named = options_.keep_hot_probes || calls_ || trace_ || process.id.pid == named_;
  // That SIGTRAP is ignored only our handler can still do: exec has reset what was in its place.
  process.from_start = from_start && (process.is_named || process.ignores_sigtrap);
  maintenance_.note_program();
}

std::shared_ptr<InstrumentedCode> ProbeCounter::copy_code(const TracedProcess& child, pid_t tid,
                                                          const ForkOrigin& origin) {
  const core::TimePoint begin = core::Clock::now();
  auto& parent = static_cast<ProbedCode&>(*origin.code);
  restore_jumps(parent, tid);
  auto code = std::make_shared<ProbedCode>(child.id, tid, parent);
  if (is_coverage(options_)) {
    drop_known_probes(*code);
    drop_known_probes(parent);
    parent.tell_changes();
  }
  if (promotion_.is_wanted()) {
    code->hot_functions().enable();
  }
  // Its handler is its parent's: most children are gone before that needs a look.
  code->trap_handler().look_later(core::Clock::now());
  if (!code->trap_handler().tried) {
    maintenance_.note_program();
  }
  charge_child(parent, core::Clock::now() - begin);
  return code;
}

/// What children cost, who mostly are gone in a moment, is the price of their parent's probes.
void ProbeCounter::charge_child(ProbedCode& parent, core::Duration cost) {
  costs_.add_work(cost);
  parent.beside() += cost;
  Tracee* const creator = tracees_.find(parent.owner().pid);
  if (!options_.keep_hot_probes && parent.may_insert() && creator != nullptr &&
      !creator->group_stopped && costs_.are_dear(parent.beside())) {
    (void)interrupt(*creator);  // it is given up on_user_stop()
  }
}

void ProbeCounter::before_exec(Tracee& caller, pid_t tid) {
  if (trace_) {
    FunctionTrace::finish(*caller.process, core::TraceEventKind::end, core::Clock::now());
  }
  ProbedCode& code = probed_code(*caller.process);
  const auto sharers = tracees_.in(code);
  code.collect_copies(std::all_of(sharers.begin(), sharers.end(), [&](const Tracee* sharer) {
    return sharer->process == caller.process;
  }));
  probed_thread(caller).mask.restore(tid);
  caller.process->ignores_sigtrap = ignores_trap(*caller.process);
}

void ProbeCounter::add_thread(Tracee& tracee, bool counted) {
  auto thread = std::make_unique<ProbedThread>();
  thread->counted = counted;
  tracee.thread_state = std::move(thread);
}

// ---- stops

bool ProbeCounter::on_trap(Tracee& tracee, core::TimePoint now) {
  const pid_t tid = tracee.id.tid;
  ProbedThread& thread = probed_thread(tracee);
  costs_.begin_stop();
  const bool was_stepped = std::exchange(thread.was_stepped, false);
  thread.moved_trap = {};
  auto registers = ptrace::registers(tid);
  if (!registers) {
    (void)ptrace::resume(tid, 0);  // it was killed
    return true;
  }
  give_mask_back_if_bare(tracee);
  const auto [origin, site] = trap_origin(probed_code(*tracee.process), tid, *registers);
  switch (origin) {
    case TrapOrigin::breakpoint:
      hits_.on_breakpoint(tracee, *site, *registers, now);
      return true;
    case TrapOrigin::removed_breakpoint:
      enter_function_copy(tracee, false);
      ProbeHits::continue_thread(tracee);
      return true;
    case TrapOrigin::step:
      if (thread.delivering != 0) {
        GateKeeper::end_delivery(tracee, false);
        ProbeHits::continue_thread(tracee);
        return true;
      }
      if (thread.displaced.is_active() || thread.window) {
        hits_.on_step(tracee, *registers, now);
        return true;
      }
      if (was_stepped) {
        ProbeHits::continue_thread(tracee);  // what stopped it has ended the window
      }
      return was_stepped;
    case TrapOrigin::handler_entry:
      if (thread.delivering == 0) {
        return false;
      }
      GateKeeper::end_delivery(tracee, true);
      ProbeHits::continue_thread(tracee);
      return true;
    case TrapOrigin::target:
      return false;
    case TrapOrigin::thread_gone:
      (void)ptrace::resume(tid, 0);
      return true;
  }
  return false;
}

void ProbeCounter::on_syscall(Tracee& tracee, core::TimePoint /*now*/) {
  on_other_stop(tracee);  // asked for by nobody
  FunctionTrace::end_stop(tracee);
  ProbeHits::continue_thread(tracee);
}

void ProbeCounter::on_other_stop(Tracee& tracee) {
  ProbedThread& thread = probed_thread(tracee);
  ProbedCode& code = probed_code(*tracee.process);
  thread.resumed_at = {};
  thread.mask.hide(tracee.id.tid);
  if (trace_) {
    thread.stopped_at = core::Clock::now();
  }
  const bool was_delivery = GateKeeper::break_off_delivery(tracee);
  thread.was_stepped =
      thread.was_stepped || thread.displaced.is_active() || thread.window || was_delivery;
  if (thread.displaced.is_active()) {
    thread.displaced.cancel(code, tracee.id.tid);
  } else {
    HitCounter::leave_displaced_instruction(tracee);
  }
  look_outside_of_copy(tracee);
  if (thread.window) {
    exploration_.end(tracee);
  }
}

void ProbeCounter::on_user_stop(Tracee& tracee, UserStop stop, core::TimePoint /*now*/) {
  ProbedCode& code = probed_code(*tracee.process);
  promotion_.give_counters(tracee, stop == UserStop::interrupt);
  if (switch_) {
    switch_->on_stop(tracee);
  }
  if (stop == UserStop::interrupt && !options_.keep_hot_probes) {
    maintenance_.give_up_where_dear(tracee);
  }
  if (!code.may_insert()) {
    give_mask_back(tracee);
    if (stop == UserStop::interrupt) {
      give_back_handler_masks(code, tracee.id.tid);
      if (code.is_to_be_left()) {
        maintenance_.leave_program(tracee, [&] { return make_detachable(tracee, true); });
        return;
      }
    }
  } else {
    unblock_trap_first(tracee, stop);
  }
  if (stop == UserStop::interrupt && !options_.begins_with_samples &&
      (tracee.process->from_start || (needs().a_thread && !code.trap_handler().tried))) {
    maintenance_.run(tracee, false);
  }
}

bool ProbeCounter::may_deliver_trap(Tracee& tracee) {
  return may_deliver_sent_trap(*tracee.process, probed_thread(tracee).mask, tracee.id.tid);
}

void ProbeCounter::on_sample(Tracee& tracee) {
  if (probed_code(*tracee.process).is_to_be_left()) {
    maintenance_.leave_program(tracee, [&] { return make_detachable(tracee, true); });
  } else {
    maintenance_.run(tracee, true);
  }
  if (trace_ && !trace_->uses_copies() && tracee.process->code_state != nullptr) {
    trace_->flush_if_due(probed_code(*tracee.process));
  }
}

void ProbeCounter::resume(Tracee& tracee, int signal) {
  if (trace_) {
    FunctionTrace::end_stop(tracee);
  }
  if (signal == SIGTRAP && tracee.process->code_state != nullptr &&
      reset_trap_action(probed_code(*tracee.process), tracee.id.tid)) {
    maintenance_.remove_all_probes(tracee);
  }
  if (signal != 0 && probed_thread(tracee).window) {
    exploration_.end(tracee);
  }
  if (tracee.process->code_state != nullptr && !probed_thread(tracee).window) {
    if (signal == 0) {
      probed_thread(tracee).out_of_copy.reset();
    } else {
      signal = promotion_.prepare_for_signal(tracee, signal);
    }
  }
  if (signal != 0 && GateKeeper::begin_delivery(tracee, signal)) {
    (void)ptrace::step(tracee.id.tid, signal);
    return;
  }
  if (signal == 0 && probed_thread(tracee).window) {
    (void)ptrace::step(tracee.id.tid, 0);
  } else {
    (void)ptrace::resume(tracee.id.tid, signal);
  }
}

}  // namespace sp::supervisor
