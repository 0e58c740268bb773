#include "supervisor/instruments/probes/trace_switch.h"

#include <algorithm>
#include <set>
#include <utility>
#include <variant>

#include "arch/native.h"
#include "supervisor/breakpoints/trap_handler.h"
#include "supervisor/instruments/probes/open_functions.h"
#include "supervisor/instruments/probes/probed_thread.h"
#include "supervisor/instruments/probes/trace_placing.h"
#include "supervisor/instruments/trap_origin.h"
#include "supervisor/linux/proc_files.h"
#include "supervisor/tracees/world_stop.h"

namespace sp::supervisor {
namespace {

using core::TraceAction;

/// Stops one of the threads: one that runs, if there is any, since that wakes nobody.
void stop_one(const std::vector<Tracee*>& threads) {
  Tracee* any = nullptr;
  bool runs = false;
  for (auto thread = threads.begin(); thread != threads.end() && !runs; ++thread) {
    const auto stat = (*thread)->group_stopped ? std::nullopt : read_stat((*thread)->id.tid);
    any = stat && stat->state != 'Z' ? *thread : any;
    runs = stat && stat->state == 'R';
  }
  if (any != nullptr) {
    (void)interrupt(*any);
  }
}

/// It is held in front of the report of a fork: the child gets the mask that the thread
/// has when that report is handled.
bool has_made_task(const WorldStop& world, const Tracee& thread) {
  const auto held = world.threads();
  return std::any_of(held.begin(), held.end(), [&](const HeldThread& each) {
    const auto* const event = std::get_if<EventStop>(&each.stop);
    return each.tid == thread.id.tid && event != nullptr && event->event != Event::exec &&
           event->event != Event::exit && event->event != Event::other;
  });
}

/// Blocks are counted no longer: a time without places comes.
void end_counts(ProbedCode& code, core::TimePoint now) {
  for (std::uint32_t number = 0; number < code.blocks().size(); ++number) {
    ProbedBlock& block = code.block(number);
    if (!block.until && block.probe != core::Address{}) {
      block.until = now;
      block.has_unreported_change = true;
    }
  }
}

}  // namespace

TraceState TraceSwitch::new_state() const {
  TraceState state;
  state.recorder = &parts_.trace;
  state.is_off = !is_on_;
  state.was_off = !is_on_;
  state.switches_on = parts_.trace.triggers().that_switch_on();
  return state;
}

void TraceSwitch::begin(ProbedCode& code) const {
  if (!is_on_ && !stands_by()) {
    code.disable();
  }
}

std::vector<std::shared_ptr<TracedProcess>> TraceSwitch::processes() const {
  std::set<const CodeState*> seen;
  std::vector<std::shared_ptr<TracedProcess>> found;
  for (const auto& [tid, tracee] : parts_.tracees.all()) {
    const CodeState* const code = tracee.process->code_state.get();
    if (code != nullptr && probed_code(*tracee.process).trace() && seen.insert(code).second) {
      found.push_back(tracee.process);
    }
  }
  return found;
}

void TraceSwitch::serve(const core::TraceRequest& request, const Tracee* hit) {
  const TraceAction action = request.action;
  const bool was_on = is_on_;
  if (action == TraceAction::off) {
    times_off_ += is_on_ ? 1 : 0;
    is_on_ = false;
  } else if (action == TraceAction::on) {
    is_on_ = true;
  }
  for (const auto& process : processes()) {
    ProbedCode& code = probed_code(*process);
    switch (action) {
      case TraceAction::on:
        switch_on(*process, hit);
        break;
      case TraceAction::off:
        switch_off(*process);
        break;
      case TraceAction::flush:
        parts_.trace.flush(code);
        break;
      case TraceAction::clear:
        parts_.trace.clear(code);
        break;
      case TraceAction::patch:
      case TraceAction::unpatch:
        patch(code, request);
        break;
      case TraceAction::stop:
      case TraceAction::gave_up:
        break;
    }
  }
  if (is_on_ != was_on) {
    parts_.trace.tell(request, core::Clock::now());
  }
  tell_state();
}

void TraceSwitch::patch(ProbedCode& code, const core::TraceRequest& request) {
  const std::set<std::uint64_t> named(request.functions.begin(), request.functions.end());
  const bool is_unpatch = request.action == TraceAction::unpatch;
  const core::TimePoint now = core::Clock::now();
  for (ProbedFunction& function : code.functions().all()) {
    if (function.id != 0 && named.contains(function.id)) {
      const bool was_patched = !std::exchange(function.is_unpatched, is_unpatch);
      if (was_patched == is_unpatch) {
        change_spans(code, function, is_unpatch, now);
      }
      for (const auto& thread : code.trace()->threads) {
        if (was_patched && is_unpatch) {
          thread->end_function(function.number, now);  // how open calls return is not seen
        }
      }
    }
  }
  if (is_unpatch) {
    remove_places(code);
  } else if (code.may_insert()) {
    insert_places(code, now);
  }
}

void TraceSwitch::switch_off(const TracedProcess& process) {
  ProbedCode& code = probed_code(process);
  TraceState& state = *code.trace();
  state.is_to_be_on = false;
  if (state.is_over || state.is_off) {
    return;
  }
  parts_.maintenance.leave_copies(process);
  parts_.trace.read_copies(code, true);
  const core::TimePoint now = core::Clock::now();
  state.is_off = state.was_off = true;
  for (const auto& thread : state.threads) {
    thread->pause(now);
  }
  if (stands_by()) {
    remove_places(code);
  } else {
    remove_all(process, false);
  }
  end_counts(code, now);
  parts_.modules.flush(process, {process.id.pid, 0});
}

/// Gates, too, so that threads that block SIGTRAP get their masks back. They are held meanwhile:
/// none looks at its mask when the gate is gone and the mask is not back yet.
void TraceSwitch::remove_all(const TracedProcess& process, bool at_end) {
  ProbedCode& code = probed_code(process);
  std::vector<Tracee*> blocking;
  for (Tracee* const thread : parts_.tracees.in(code)) {
    ProbedThread& state = probed_thread(*thread);
    if (state.mask.blocks_trap()) {
      blocking.push_back(thread);
    } else {
      state.mask = SigtrapMask(MaskChanges::unseen);
      state.mask_is_known = false;
    }
  }
  const auto world = blocking.empty()
                         ? core::fail("")
                         : WorldStop::stop_most(parts_.tracees, process, kLongestWorldStop);
  std::erase_if(blocking, [&](Tracee* const thread) {
    const bool is_held = world && world->holds(thread->id.tid) && !has_made_task(*world, *thread);
    if (!is_held) {
      // It gets its mask back in that stop, before it executes anything.
      thread->is_awaited = interrupt(*thread).has_value() && at_end;
    }
    return !is_held;
  });
  code.restore(BreakpointTable::kEverywhere);
  code.disable();
  for (Tracee* const thread : blocking) {
    give_mask_back(*thread);
  }
}

void TraceSwitch::on_trigger(TraceAction action, const Tracee* hit) {
  if (action == TraceAction::on || stands_by()) {
    serve({action, 0, {}, "a trigger"}, hit);
    return;
  }
  for (const auto& process : processes()) {
    for (const auto& thread : probed_code(*process).trace()->threads) {
      thread->pause(core::Clock::now());
    }
  }
  parts_.requests.ask(
      {action, 0, {}, "a trigger"});  // threads have to be held, which no hit can do
}

void TraceSwitch::switch_on(TracedProcess& process, const Tracee* hit) {
  ProbedCode& code = probed_code(process);
  TraceState& state = *code.trace();
  if (state.is_over || !state.is_off || state.is_to_be_on) {
    return;
  }
  if (stands_by() && code.trap_handler().tried) {
    put_all_places(code);  // nothing else has changed
    if (hit != nullptr && hit->process->code_state == process.code_state) {
      instrument_open_functions(code, parts_.tracees, *hit, true);
      return;
    }
    state.looks_for_open = true;
  } else {
    state.is_to_be_on = true;
  }
  stop_one(parts_.tracees.in(code));
}

void TraceSwitch::on_stop(Tracee& tracee) {
  TracedProcess& process = *tracee.process;
  ProbedCode& code = probed_code(process);
  TraceState& state = *code.trace();
  if (!state.is_to_be_on && !state.looks_for_open) {
    return;
  }
  const auto registers = ptrace::registers(tracee.id.tid);
  if (!registers ||
      trap_is_pending(code, tracee.id.tid, arch::Native::pc(*registers),
                      probed_thread(tracee).was_stepped) ||
      postpone_calls(tracee.id.tid)) {
    return;
  }
  if (std::exchange(state.looks_for_open, false) && !state.is_to_be_on) {
    instrument_open_functions(code, parts_.tracees, tracee);
    return;
  }
  state.is_to_be_on = false;
  code.enable();
  process.is_named = true;
  const bool is_first = !code.trap_handler().tried;
  if (is_first) {
    process.from_start = false;  // it has run without us
    state.is_off = false;
  }
  if (is_first || parts_.modules.begin_again(tracee)) {
    parts_.maintenance.run(tracee, false);
  } else {
    parts_.maintenance.give_up(tracee, "handles SIGTRAP by now");
  }
  if (code.may_insert()) {
    put_all_places(code);
    if (!is_first) {
      instrument_open_functions(code, parts_.tracees, tracee);
    }
  }
  tell_state();
}

void TraceSwitch::put_all_places(ProbedCode& code) {
  const core::TimePoint now = core::Clock::now();
  TraceState& state = *code.trace();
  state.is_off = state.is_to_be_on = false;
  code.hot_functions().forget_due(code.functions().all());
  insert_places(code, now);
  for (const auto& thread : state.threads) {
    thread->begin(core::Clock::now());
  }
}

void TraceSwitch::tell_state() {
  std::size_t waiting = 0;
  std::size_t given_up = 0;
  for (const auto& process : processes()) {
    const TraceState& state = *probed_code(*process).trace();
    waiting += state.is_to_be_on ? 1 : 0;
    given_up += state.is_over ? 1 : 0;
  }
  parts_.requests.note_state(is_on_, waiting, given_up);
}

}  // namespace sp::supervisor
