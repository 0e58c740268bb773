#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/address.h"
#include "core/instruction.h"

namespace sp::core {

/// Decodes the instruction at `at` from its bytes, of the CPU with that e_machine of elf(5): how
/// folders that may not know the CPUs look at code.
using Decoder = std::optional<Instruction> (*)(std::uint16_t machine,
                                               std::span<const std::byte> code, Address at);

}  // namespace sp::core
