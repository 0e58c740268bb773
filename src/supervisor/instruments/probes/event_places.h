#pragma once

#include "core/control_flow_graph.h"
#include "core/function_copy.h"
#include "supervisor/instruments/probes/probed_code.h"

// Places of functions that are traced and run from copies, which write their events.
namespace sp::supervisor {

/// Copies of the code, if it has some, write events and count calls alone.
[[nodiscard]] inline bool writes_events(ProbedCode& code) {
  return code.trace() && code.trace()->recorder != nullptr;
}

/// The function jumps to its own first instruction by a table, and so uncounted; where it does so
/// by a pointer, as it would to any function, that is a tail call.
[[nodiscard]] bool jumps_to(const core::ControlFlowGraph& graph, core::Address entry);

/// The function's places, with numbers in TraceState::event_places. False if only a breakpoint can
/// tell what some of its events are.
[[nodiscard]] bool add_event_places(ProbedCode& code, const ProbedFunction& function,
                                    core::FunctionToCopy& to_copy);

}  // namespace sp::supervisor
