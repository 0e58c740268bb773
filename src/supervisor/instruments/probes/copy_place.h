#pragma once

#include <cstdint>
#include <tl/expected.hpp>

#include "core/control_flow_graph.h"
#include "core/function_copy.h"
#include "supervisor/instruments/probes/copied_threads.h"
#include "supervisor/instruments/probes/copy_installer.h"
#include "supervisor/instruments/probes/probed_function.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// How much a copy counts.
enum class CopyDetail : std::uint8_t { blocks_and_branches, and_transfers, and_events };

/// Reserves room near the function's module and counters for a copy, and notes them in `prepared`.
/// The thread is in a stop in which it can make system calls.
[[nodiscard]] tl::expected<core::CopyPlace, core::CopyRefusal> find_copy_place(
    Tracee& tracee, const ProbedFunction& function, const core::ControlFlowGraph& graph,
    CopyDetail detail, PreparedCopy& prepared);

}  // namespace sp::supervisor
