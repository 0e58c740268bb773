#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/address.h"

namespace sp::arch::x86_64 {

/// No copy is longer, in bytes.
inline constexpr std::size_t kLongestRelocation = 64;
/// Bytes from there in which a jump reaches its target for certain, both ways.
inline constexpr std::uint64_t kJumpReach = std::uint64_t{2} << 30U;

/// Code which, when it lies at `to`, does what the instruction at `from` (whose bytes `code` begins
/// with) does there, and goes on where that one would have gone: behind it, or where it branches.
///
/// Nothing where that cannot be done: the instruction enters the kernel or traps, is a far call or
/// a transaction, its displacement does not reach from `to` (2 GiB), or it is no instruction. Only
/// the registers and memory that the instruction itself changes are changed; a fault happens at an
/// address within the copy. The copy keeps the instruction's prefixes, because some CPUs obey
/// prefixes that others ignore.
[[nodiscard]] std::optional<std::vector<std::byte>> relocate(std::span<const std::byte> code,
                                                             core::Address from, core::Address to);

}  // namespace sp::arch::x86_64
