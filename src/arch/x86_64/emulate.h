#pragma once

#include <cstddef>
#include <span>

#include "arch/emulation.h"
#include "arch/x86_64/registers.h"

namespace sp::arch::x86_64 {

/// Executes the instruction at rip, whose bytes `code` begins with, on `registers` and `memory`.
/// Covers near jumps, calls and returns, and the usual instructions of prologues (push, mov, lea,
/// arithmetic, compares, hints).
///
/// Refuses encodings on which CPUs disagree: those that one vendor's manual (Intel SDM volume 2,
/// AMD APM volume 3) leaves reserved or undefined or defines otherwise than the other's. AMD's
/// loope with F2 is loopne, for example. The one undefined result that remains is AF after and, or,
/// xor and test; nothing that is emulated reads AF.
///
/// Only push and call write memory, so that no other thread can see a store that is not atomic.
/// Must not be used on a thread with a shadow stack (CET), which an emulated call or ret would not
/// update: the supervisor inserts no breakpoints into such programs.
[[nodiscard]] Emulated emulate(Registers& registers, std::span<const std::byte> code,
                               MemoryAccess& memory);

}  // namespace sp::arch::x86_64
