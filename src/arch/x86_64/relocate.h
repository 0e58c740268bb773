#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/address.h"

namespace sp::arch::x86_64 {

/// Upper bound of a copy's size in bytes.
inline constexpr std::size_t kLongestRelocation = 64;
/// Every jump from a copy reaches targets within so many bytes, in both directions.
inline constexpr std::uint64_t kJumpReach = std::uint64_t{2} << 30U;

/// Relocates the instruction at `from`, whose bytes `code` begins with: the result, placed at `to`,
/// has the same effect and continues at the next instruction of the original or at its target.
///
/// Nothing if that is impossible: the instruction enters the kernel or traps, is a far call or a
/// transaction, has a displacement that does not reach from `to` (2 GiB), or does not decode. The
/// copy changes only what the instruction itself changes; a fault happens at an address within the
/// copy. The copy keeps the instruction's prefixes, because some CPUs obey
/// prefixes that others ignore.
[[nodiscard]] std::optional<std::vector<std::byte>> relocate(std::span<const std::byte> code,
                                                             core::Address from, core::Address to);

}  // namespace sp::arch::x86_64
