#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "arch/atomic_sequence.h"
#include "core/address.h"

namespace sp::arch::aarch64 {

/// No sequence that we know for one is longer, in bytes; nor is its copy with its ways out.
inline constexpr std::size_t kLongestAtomicSequence = 64;
inline constexpr std::size_t kLongestRelocatedSequence = 128;

/// Bytes of the sequence that `code` begins with, from its ldxr to its stxr; 0 where none begins
/// there. Arm ARM, B2.12: an exception may clear the monitor in between, and the store fails.
[[nodiscard]] std::size_t atomic_sequence_length(std::span<const std::byte> code);

/// The sequence that stands at `from`, for `to`. Nothing where it has more in it than conditional
/// branches and what does not depend on its place, or where a way out does not reach.
[[nodiscard]] std::optional<RelocatedAtomicSequence> relocate_atomic_sequence(std::span<const std::byte> code,
                                                              core::Address from, core::Address to);

}  // namespace sp::arch::aarch64
