#pragma once

#include <cstddef>
#include <span>

#include "arch/aarch64/registers.h"
#include "arch/emulation.h"

namespace sp::arch::aarch64 {

/// Does to `registers` and `memory` what the CPU would do for the instruction at pc, whose bytes
/// `code` begins with: every branch of user code, and what functions usually begin and end with
/// (pairs pushed to and popped from the stack, sums with sp, moves, adr, hints).
///
/// Memory is written only below sp, so that no other thread sees a store that is less than atomic.
/// Signed branch targets are not authenticated but taken without their signature; instructions that
/// make or check signatures (paciasp, autiasp) need the process's keys and are not emulated.
[[nodiscard]] Emulated emulate(Registers& registers, std::span<const std::byte> code,
                               MemoryAccess& memory);

}  // namespace sp::arch::aarch64
