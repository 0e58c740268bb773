#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "arch/x86_64/encoding.h"
#include "core/address.h"
#include "core/instruction.h"

namespace sp::arch::x86_64 {

/// Decodes the instruction at `address` from its bytes (maybe more); nothing if they are not an
/// instruction or too few. May be called on any thread.
[[nodiscard]] std::optional<core::Instruction> decode(std::span<const std::byte> bytes,
                                                      core::Address address);

/// The same, of an instruction whose encoding has been read already.
[[nodiscard]] std::optional<core::Instruction> instruction_of(const Encoding& encoding,
                                                              core::Address address);

/// The same number for instructions that differ only in displacements, immediates and registers (if
/// separate bits name them); 0 if the bytes are not an instruction.
[[nodiscard]] std::uint64_t encoding_kind(std::span<const std::byte> bytes);

}  // namespace sp::arch::x86_64
