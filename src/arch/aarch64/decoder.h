#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "core/address.h"
#include "core/instruction.h"

namespace sp::arch::aarch64 {

/// The instruction at `address`, whose bytes (and maybe more) are `bytes`; nothing where they
/// are no instruction or too few. May be called on any thread.
[[nodiscard]] std::optional<core::Instruction> decode(std::span<const std::byte> bytes,
                                                      core::Address address);

}  // namespace sp::arch::aarch64
