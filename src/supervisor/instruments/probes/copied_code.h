#pragma once

#include <vector>

#include "core/control_flow_graph.h"
#include "core/function_copy.h"
#include "supervisor/guardian/code_change.h"
#include "supervisor/instruments/probes/probed_code.h"

// What changes in the original code of a function that runs from a copy.
namespace sp::supervisor {

/// The code in the range must not be executed elsewhere: it holds a gate that is no system call.
[[nodiscard]] bool has_gate_in(ProbedCode& code, core::AddressRange range);
/// Every block of the function is in the graph.
[[nodiscard]] bool covers(const core::ControlFlowGraph& graph, const ProbedCode& code,
                          const ProbedFunction& function);
/// The probe of the block that starts there; Address{} if its executions are not counted.
[[nodiscard]] core::Address counted_at(ProbedCode& code, core::Address start);
/// The breakpoints of the function's blocks.
[[nodiscard]] std::vector<BreakpointSite*> probes_of(ProbedCode& code, std::uint32_t function);

/// The landing there is to be a breakpoint.
void replace_by_breakpoint(core::FunctionCopy& copy, core::Address landing);
/// The landings that are breakpoints.
[[nodiscard]] std::vector<BreakpointSite*> landing_sites(ProbedCode& code,
                                                         const core::FunctionCopy& copy);
/// Their breakpoints are removed, and mean nothing any more.
void remove_landings(ProbedCode& code, const core::FunctionCopy& copy);
/// The landings that are jumps, with second jumps.
void add_jumps(ProbedCode& code, const core::FunctionCopy& copy, std::vector<CodeChange>& jumps);

/// The copy's exits, for CodePatches::add_exits().
[[nodiscard]] std::vector<CodeChange> exits_of(const core::FunctionCopy& copy);

/// Where the jumps of a landing begin; nothing if it is a breakpoint.
void add_heads(const core::CopyLanding& landing, std::vector<core::Address>& heads);

/// None of the function's blocks is counted from now on.
void end_counts(ProbedCode& code, const ProbedFunction& function, core::TimePoint now);

/// Puts a forked child, which has a copy of `parent`'s memory, back to where nothing runs from
/// copies: call it before the child's code is made. `tid` is its first thread, in its first stop.
void restore_jumps(ProbedCode& parent, pid_t tid);

}  // namespace sp::supervisor
