#pragma once

#include <cstddef>
#include <span>

#include "arch/aarch64/registers.h"
#include "arch/emulation.h"

namespace sp::arch::aarch64 {

/// Executes the instruction at pc, whose bytes `code` begins with, on `registers` and `memory`.
/// Covers every branch of user code and the usual instructions of prologues and epilogues (pairs
/// pushed to and popped from the stack, sums with sp, moves, adr, hints).
///
/// Writes memory only below sp, so that no other thread can see a store that is not atomic. Strips
/// the signature of signed branch targets without authenticating them. Instructions that make or
/// check signatures (paciasp, autiasp) need the process's keys and are not emulated.
[[nodiscard]] Emulated emulate(Registers& registers, std::span<const std::byte> code,
                               MemoryAccess& memory);

}  // namespace sp::arch::aarch64
