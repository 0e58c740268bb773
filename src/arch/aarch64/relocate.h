#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/address.h"

namespace sp::arch::aarch64 {

/// Upper bound of a copy's size in bytes.
inline constexpr std::size_t kLongestRelocation = 32;
/// Every jump from a copy reaches targets within so many bytes, in both directions.
inline constexpr std::uint64_t kJumpReach = std::uint64_t{128} << 20U;

/// Relocates the instruction at `from`, whose bytes `code` begins with: the result, placed at `to`,
/// has the same effect and continues at the next instruction of the original or at its target.
///
/// Nothing if that is impossible: the instruction enters the kernel or traps, belongs to a
/// load-exclusive sequence, branches farther than `to` reaches (128 MiB: no register is free for a
/// farther jump), or does not decode. The copy changes only what the instruction itself changes; a
/// fault happens at an address within the copy.
///
/// The copy's page must not be guarded (PROT_BTI), because the copy replaces calls by plain jumps.
[[nodiscard]] std::optional<std::vector<std::byte>> relocate(std::span<const std::byte> code,
                                                             core::Address from, core::Address to);

}  // namespace sp::arch::aarch64
