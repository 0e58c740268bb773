#pragma once

#include <array>
#include <cstdint>

#include "arch/x86_64/move.h"

namespace sp::arch::x86_64 {

// Instructions that count in a 64-bit word at `offset` from the base of gs, which must be below
// 2^31. None changes flags but increment_counter().

/// inc qword gs:[offset]: changes all arithmetic flags but CF.
[[nodiscard]] MovedInstruction increment_counter(std::uint64_t offset);

/// mov reg,gs:[offset]; lea reg,[reg+1]; mov gs:[offset],reg. Not for rsp.
[[nodiscard]] std::array<MovedInstruction, 3> count_in_register(std::uint64_t offset, unsigned reg);

/// lea rsp,[rsp-128], which leaves the red zone, and back.
[[nodiscard]] MovedInstruction skip_red_zone();
[[nodiscard]] MovedInstruction return_to_red_zone();
[[nodiscard]] MovedInstruction push_register(unsigned reg);
[[nodiscard]] MovedInstruction pop_register(unsigned reg);

/// A nop of five bytes.
[[nodiscard]] MovedInstruction long_nop();

}  // namespace sp::arch::x86_64
