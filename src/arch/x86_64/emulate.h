#pragma once

#include <cstddef>
#include <span>

#include "arch/emulation.h"
#include "arch/x86_64/registers.h"

namespace sp::arch::x86_64 {

/// Does to `registers` and `memory` what the CPU would do for the instruction at rip, whose bytes
/// `code` begins with: near jumps, calls and returns of user code, and what functions usually begin
/// with (push, mov, lea, arithmetic, compares, hints).
///
/// Refuses encodings on which CPUs disagree: those that one vendor's manual (Intel SDM volume 2,
/// AMD APM volume 3) leaves reserved or undefined or defines otherwise than the other's. AMD's
/// loope with F2 is loopne, for example. The one undefined result that remains is AF after and, or,
/// xor and test; nothing that is emulated reads AF.
///
/// Memory is written only by push and call: no other store, so that no other thread can ever see
/// one that is less than atomic. Not for a thread with a shadow stack (CET), which call and ret
/// would leave behind: supervisor/shadow_stack.h keeps breakpoints out of such programs.
[[nodiscard]] Emulated emulate(Registers& registers, std::span<const std::byte> code,
                               MemoryAccess& memory);

}  // namespace sp::arch::x86_64
