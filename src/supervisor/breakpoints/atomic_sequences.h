#pragma once

#include <cstddef>

#include "core/address.h"
#include "supervisor/breakpoints/breakpoint_table.h"

namespace sp::supervisor {

/// The length in bytes of the atomic sequence (LL/SC) that begins at `address` and can be
/// relocated; else 0.
[[nodiscard]] std::size_t sequence_at(BreakpointTable& table, core::Address address);
/// `address` is inside of an atomic sequence, where a breakpoint would make it endless.
[[nodiscard]] bool is_in_sequence(BreakpointTable& table, core::Address address);

}  // namespace sp::supervisor
