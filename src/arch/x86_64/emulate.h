#pragma once

#include <cstddef>
#include <span>

#include "arch/emulation.h"
#include "arch/x86_64/registers.h"

namespace sp::arch::x86_64 {

/// Does to `registers` and `memory` what the CPU would do for the instruction at rip, whose bytes
/// `code` begins with: the jumps, calls and returns of user code in every form, and what functions
/// usually begin with (push, mov, lea, arithmetic, compares, hints).
///
/// Memory is written only by push and call: no other store, so that no other thread can ever see
/// one that is less than atomic. Not for a thread with a shadow stack (CET), which call and ret
/// would leave behind: supervisor/shadow_stack.h keeps breakpoints out of such programs.
[[nodiscard]] Emulated emulate(Registers& registers, std::span<const std::byte> code,
                               MemoryAccess& memory);

}  // namespace sp::arch::x86_64
