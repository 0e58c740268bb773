#pragma once

#include <functional>

#include "core/address.h"
#include "core/control_flow_graph.h"
#include "supervisor/instruments/code_analysis.h"

namespace sp::supervisor {

/// True for an address within an atomic sequence (LL/SC), which a breakpoint would make endless.
using IsInSequence = std::function<bool(core::Address)>;

/// The instruction of `block` that gets the block's breakpoint; Address{} if none can have it.
///
/// First choice is the transfer that ends the block, because it shows where control goes, or else
/// the last instruction before it, provided that the tracer can emulate it. Second choice is the
/// last instruction that the thread can execute as a relocated copy (displaced stepping). `read`
/// returns original bytes. Pure.
[[nodiscard]] core::Address choose_probe(const core::BasicBlock& block,
                                         const CodeAnalysis::Read& read,
                                         const IsInSequence& is_in_sequence);

}  // namespace sp::supervisor
