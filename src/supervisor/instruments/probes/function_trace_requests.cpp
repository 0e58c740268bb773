#include <vector>

#include "supervisor/instruments/probes/function_trace.h"
#include "supervisor/instruments/probes/probed_thread.h"

// What calls set off (--trigger), and what is asked of a trace while it runs.
namespace sp::supervisor {

using core::Address;

void FunctionTrace::note_entry(Tracee& tracee, const ProbedFunction& function, ThreadTrace& trace,
                               Address sp, core::TimePoint now) {
  const ProbedThread& thread = probed_thread(tracee);
  if (function.triggers != 0) {
    // A call that switches it on is the first one, and one that switches it off is left out.
    ask(triggers_.on_entry(function.triggers, trace.depth_of(function.number, sp) + 1,
                           thread.arguments));
  }
  trace.enter(function.number, sp, now, thread.returns_to,
              triggers_.watches_end(function.triggers) || is_learning());
}

void FunctionTrace::note_ended(ProbedCode& code, ThreadTrace& trace) {
  for (const ThreadTrace::EndedCall& call : trace.take_ended()) {
    ask(triggers_.on_end(code.function(call.function).triggers, call.depth, call.took));
    if (is_learning()) {
      learning_->note_ended(code, call);
    }
  }
}

void FunctionTrace::ask(const std::vector<core::TraceAction>& actions) {
  for (const core::TraceAction action : actions) {
    if (action == core::TraceAction::on || action == core::TraceAction::off) {
      switch_(action);
    } else {
      requests_.ask({action, 0});
    }
  }
}

void FunctionTrace::clear(ProbedCode& code) {
  read_copies(code, false);
  TraceState& state = *code.trace();
  std::erase_if(state.threads, [](const auto& trace) { return trace.use_count() == 1; });
  for (const auto& trace : state.threads) {
    cleared_ += trace->size();
    trace->clear(core::Clock::now());
  }
}

}  // namespace sp::supervisor
