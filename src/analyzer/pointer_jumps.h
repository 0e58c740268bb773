#pragma once

#include <cstddef>
#include <span>

#include "core/address.h"
#include "core/control_flow_graph.h"

namespace sp::analyzer {

/// All indirect jumps of the function with unknown destinations jump to a pointer as it was found
/// in memory, or got from the caller or a call: a tail call, a computed goto. If every pointer into
/// the function that there can be is known (code_references.h), so are these jumps' destinations in
/// it. False if one may lead to an address that was computed (a table of offsets that was not
/// recognised). `code` are the bytes of `bounds`.
[[nodiscard]] bool jumps_to_pointers(const core::ControlFlowGraph& graph, core::AddressRange bounds,
                                     std::span<const std::byte> code);

}  // namespace sp::analyzer
