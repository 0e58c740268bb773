#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "core/address.h"
#include "core/control_flow_graph.h"

namespace sp::analyzer {

/// Fills `into` with the original bytes (no breakpoints) from an address on, and says how many
/// there are: fewer where something is not mapped. Also asked for jump tables, in read-only data.
using ReadCode = std::function<std::size_t(core::Address from, std::span<std::byte> into)>;

/// Larger functions than this are left alone.
inline constexpr std::size_t kLargestFunction = std::size_t{16} << 20U;

/// The blocks of the function in `bounds`, as far as they follow from its code. Runs on the ptrace
/// thread, while a thread of the target waits for it; work and memory are bounded by the size of
/// `bounds`, whatever the bytes are.
///
/// Decodes from `leaders`, places that control is known to come to, and follows what it finds
/// there: direct jumps and branches, jump tables, and what is behind calls. The last may be padding
/// or data, behind a call that never returns. So it is a conjecture, which is dropped with all that
/// only it led to when it does not decode, runs over the end of the function, or comes into the
/// middle of an instruction that was found without it. Two conjectures that exclude each other are
/// both dropped. Leaders outside of `bounds` do not count.
///
/// Where certain code overlaps (a jump behind a lock prefix), who was found first gets the block
/// and the other's address is in `unmapped`; both go on in a block of its own.
[[nodiscard]] core::ControlFlowGraph build_control_flow_graph(
    core::AddressRange bounds, std::span<const core::Address> leaders, const ReadCode& read);

}  // namespace sp::analyzer
