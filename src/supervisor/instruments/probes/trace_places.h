#pragma once

#include <functional>
#include <vector>

#include "core/address.h"
#include "core/control_flow_graph.h"
#include "core/instruction.h"
#include "supervisor/instruments/probes/function_index.h"

// Where a function that is traced has its breakpoints: on its first instruction, on each landing
// pad, behind each call of setjmp, on each instruction by which it may be left for good, and on
// events of its own. Without exits: on the first one, and on jumps back to it.
namespace sp::supervisor {

/// What a block of a traced function is to the trace.
struct TracePlace {
  bool enters = false;               // begins with the function's first instruction
  bool resumes = false;              // begins with a landing pad, or behind a call of setjmp
  bool leaves = false;               // ends with an instruction that may leave the function
  const EventSled* event = nullptr;  // ends with the jump over it, or with its call

  [[nodiscard]] bool is_any() const { return enters || resumes || leaves || event != nullptr; }
};

/// The sled that says something at that instruction; null: none.
[[nodiscard]] const EventSled* event_at(const ProbedFunction& function,
                                        const core::Instruction& instruction);

/// `last` ends a block that begins at `start`. `functions` are those that are known, with
/// `function`, `unresolved` its indirect jumps with unknown destinations.
[[nodiscard]] TracePlace trace_place(const FunctionIndex& functions, const ProbedFunction& function,
                                     const std::vector<core::Address>& unresolved,
                                     core::Address start, const core::Instruction& last);

/// What `analyze` makes of the function. Where its module calls what returns twice, the places
/// behind its calls of that are landing pads from then on.
[[nodiscard]] core::ControlFlowGraph map_traced(
    const FunctionIndex& functions, ProbedFunction& function,
    const std::function<core::ControlFlowGraph()>& analyze);

/// The graph with a block of its own for the first instruction of a block that is to have two
/// breakpoints.
[[nodiscard]] core::ControlFlowGraph cut_at_places(core::ControlFlowGraph graph,
                                                   const FunctionIndex& functions,
                                                   const ProbedFunction& function);

}  // namespace sp::supervisor
