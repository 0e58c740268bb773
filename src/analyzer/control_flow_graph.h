#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "core/address.h"
#include "core/control_flow_graph.h"
#include "core/table_hints.h"

namespace sp::analyzer {

/// Reads the original bytes (no breakpoints) from an address on into `into` and returns their
/// number, which is smaller if memory is not mapped. Also reads jump tables in read-only data.
using ReadCode = std::function<std::size_t(core::Address from, std::span<std::byte> into)>;

/// Larger functions are not analyzed.
inline constexpr std::size_t kLargestFunction = std::size_t{16} << 20U;

/// Builds the control-flow graph of the function in `bounds` by recursive descent. Runs on the
/// ptrace thread while a thread of the target waits for it; the size of `bounds` limits work and
/// memory, whatever the bytes are.
///
/// Decodes from `leaders`, which control is known to reach, and follows direct jumps and branches,
/// jump tables and the return addresses of calls. After a call that never returns there may be
/// padding or data, so code there is speculative. A speculation is rejected, with everything that
/// only it led to, if it does not decode, runs past the end of the function, or reaches the middle
/// of an instruction that was found without it. Two speculations that contradict each other are
/// both rejected. Leaders outside of `bounds` are ignored.
///
/// If certain code overlaps, the code found first gets the block and the other's address goes to
/// `unmapped`; both continue in a common block. A jump behind a lock prefix gets its own block
/// (core::BasicBlock::is_unlocked).
///
/// With `hints` jump tables are resolved that no bounds check shows, too. Such a table is read as
/// far as its entries may be the function's places: more places than it has split blocks, and do no
/// other harm, for those that are within an instruction show that it was read too far.
[[nodiscard]] core::ControlFlowGraph build_control_flow_graph(
    core::AddressRange bounds, std::span<const core::Address> leaders, const ReadCode& read,
    const core::TableHints* hints = nullptr);

}  // namespace sp::analyzer
