#pragma once

#include <cstddef>
#include <span>

#include "core/address.h"
#include "core/control_flow_graph.h"

namespace sp::rewriter {

/// True if the target of each unresolved indirect jump of a function is a whole pointer: one that
/// was passed in, returned by a call, or loaded from memory other than the stack, and that the
/// function itself has not computed (with a table of offsets, say), or if the function's frame is
/// gone by then. Such a jump leads to no other
/// address of the function than those that its module holds pointers to. `code` are the bytes of
/// `bounds`.
[[nodiscard]] bool jumps_through_pointers(const core::ControlFlowGraph& graph,
                                          core::AddressRange bounds,
                                          std::span<const std::byte> code);

}  // namespace sp::rewriter
