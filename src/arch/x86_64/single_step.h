#pragma once

#include <cstddef>
#include <span>

#include "arch/emulation.h"
#include "arch/x86_64/registers.h"

namespace sp::arch::x86_64 {

/// Takes out of the thread what is left of a single step over the instruction (its bytes, maybe
/// more) that it has just done; true where registers were changed. The kernel steps by the trap
/// flag: pushf stores it (Intel SDM volume 2, PUSHF), and a popf of that image would trap when
/// nobody steps. Behind a stepped popf the kernel takes the flag of its own next step for the
/// program's (is_setting_trap_flag() in arch/x86/kernel/step.c) and leaves it set.
bool hide_step(std::span<const std::byte> code, Registers& registers, MemoryAccess& memory);

/// The program has set the trap flag itself. The kernel does not show the one that it steps by
/// (get_flags() in arch/x86/kernel/ptrace.c).
bool steps_itself(const Registers& registers);

}  // namespace sp::arch::x86_64
