#pragma once

#include <cstddef>
#include <span>

#include "arch/emulation.h"
#include "arch/x86_64/registers.h"

namespace sp::arch::x86_64 {

/// Removes the traces of a single step over the instruction (its bytes, maybe more) that the thread
/// has just executed; true if registers were changed. The kernel steps by the trap flag: pushf
/// stores it (Intel SDM volume 2, PUSHF), and a later popf of that image would trap although nobody
/// steps. After a stepped popf the kernel takes its own flag for the program's
/// (is_setting_trap_flag() in arch/x86/kernel/step.c) and leaves it set.
bool hide_step(std::span<const std::byte> code, Registers& registers, MemoryAccess& memory);

/// True if the program has set the trap flag itself. The kernel hides the one that it steps by
/// (get_flags() in arch/x86/kernel/ptrace.c).
bool steps_itself(const Registers& registers);

}  // namespace sp::arch::x86_64
