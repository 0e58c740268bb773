#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/address.h"

namespace sp::arch::aarch64 {

/// No copy is longer, in bytes.
inline constexpr std::size_t kLongestRelocation = 32;
/// Bytes from there in which a jump reaches its target for certain, both ways.
inline constexpr std::uint64_t kJumpReach = std::uint64_t{128} << 20U;

/// Code which, when it lies at `to`, does what the instruction at `from` (whose bytes `code` begins
/// with) does there, and goes on where that one would have gone: behind it, or where it branches.
///
/// Nothing where that cannot be done: the instruction enters the kernel or traps, is part of a
/// load-exclusive sequence, is a branch whose target does not reach from `to` (128 MiB: there is no
/// register to spare for a farther jump), or is no instruction. Only the registers and memory that
/// the instruction itself changes are changed; a fault happens at an address within the copy.
///
/// The copy's page must not be a guarded one (PROT_BTI): a call is made of a plain jump there.
[[nodiscard]] std::optional<std::vector<std::byte>> relocate(std::span<const std::byte> code,
                                                             core::Address from, core::Address to);

}  // namespace sp::arch::aarch64
