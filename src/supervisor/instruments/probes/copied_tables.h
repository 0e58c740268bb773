#pragma once

#include "core/control_flow_graph.h"
#include "core/function_copy.h"
#include "supervisor/instruments/probes/probed_code.h"

namespace sp::supervisor {

/// Lets the copy have jump tables of its own: of those tables in `graph` whose memory stays as it
/// is. The others are taken out.
void add_tables(ProbedCode& code, const FunctionIndex::Module& module,
                core::ControlFlowGraph& graph, core::FunctionToCopy& to_copy);

}  // namespace sp::supervisor
