#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "arch/aarch64/decoder.h"
#include "arch/x86_64/decoder.h"

namespace sp::arch {

/// A core::Decoder for files of any CPU, whichever we run on.
[[nodiscard]] inline std::optional<core::Instruction> decode_of_machine(
    std::uint16_t machine, std::span<const std::byte> code, core::Address at) {
  return machine == EM_AARCH64 ? aarch64::decode(code, at) : x86_64::decode(code, at);
}

}  // namespace sp::arch
