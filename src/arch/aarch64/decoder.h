#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/address.h"
#include "core/instruction.h"

namespace sp::arch::aarch64 {

/// The instruction at `address`, whose bytes (and maybe more) are `bytes`; nothing where they
/// are no instruction or too few. May be called on any thread.
[[nodiscard]] std::optional<core::Instruction> decode(std::span<const std::byte> bytes,
                                                      core::Address address);

/// The same number for instructions that differ in their displacements, immediates and (where it is
/// a matter of their own bits) registers only; 0 where the bytes are no instruction.
[[nodiscard]] std::uint64_t encoding_kind(std::span<const std::byte> bytes);

}  // namespace sp::arch::aarch64
