#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "arch/atomic_sequence.h"
#include "core/address.h"

namespace sp::arch::x86_64 {

/// Atomic operations are single instructions on this CPU.
inline constexpr std::size_t kLongestAtomicSequence = 0;
inline constexpr std::size_t kLongestRelocatedSequence = 0;

[[nodiscard]] inline std::size_t atomic_sequence_length(std::span<const std::byte> /*code*/) {
  return 0;
}

[[nodiscard]] inline std::optional<RelocatedAtomicSequence> relocate_atomic_sequence(
    std::span<const std::byte> /*code*/, core::Address /*from*/, core::Address /*to*/) {
  return std::nullopt;
}

}  // namespace sp::arch::x86_64
