#pragma once

#include <cstddef>
#include <span>

#include "arch/aarch64/registers.h"
#include "arch/emulation.h"

namespace sp::arch::aarch64 {

/// Does nothing: no instruction at EL0 can read MDSCR_EL1.SS or SPSR_EL1.SS (Arm ARM, D2.12).
bool hide_step(std::span<const std::byte> code, Registers& registers, MemoryAccess& memory);

/// Always false: a program cannot single-step itself.
bool steps_itself(const Registers& registers);

}  // namespace sp::arch::aarch64
