#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/control_flow_graph.h"
#include "supervisor/instruments/probes/probed_code.h"

namespace sp::supervisor {

/// Drops those addresses in a function that are in the middle of an instruction: numbers that look
/// like pointers to code. `code` are all its bytes, `known` is its graph without the places. Where
/// that does not tell, because nothing that is known leads there, a linear sweep does, if it
/// decodes the whole function and finds what is known: compilers lay out instructions one behind
/// the other. Pure.
void drop_places_within_instructions(core::Address begin, std::span<const std::byte> code,
                                     const core::ControlFlowGraph& known,
                                     std::vector<core::Address>& places);

/// Gives places that control may come to unseen a block and a probe, unless they are within an
/// instruction: what leads there may be just a number.
void instrument_places(ProbedCode& code, std::span<const core::Address> places);

}  // namespace sp::supervisor
