#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "arch/atomic_sequence.h"
#include "core/address.h"

namespace sp::arch::aarch64 {

/// Upper bounds of a recognised sequence's size and of its copy's with the exits, in bytes.
inline constexpr std::size_t kLongestAtomicSequence = 64;
inline constexpr std::size_t kLongestRelocatedSequence = 128;

/// Bytes of the sequence that `code` begins with, from its ldxr to its stxr; 0 if none begins
/// there. Arm ARM, B2.12: an exception in between may clear the monitor, and the store fails.
[[nodiscard]] std::size_t atomic_sequence_length(std::span<const std::byte> code);

/// Relocates the sequence at `from` to `to`. Nothing if it contains position-dependent instructions
/// other than conditional branches, or if an exit does not reach its target.
[[nodiscard]] std::optional<RelocatedAtomicSequence> relocate_atomic_sequence(
    std::span<const std::byte> code, core::Address from, core::Address to);

}  // namespace sp::arch::aarch64
