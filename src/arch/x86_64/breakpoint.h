#pragma once

#include <signal.h>

#include <array>
#include <cstddef>

#include "core/address.h"

namespace sp::arch::x86_64 {

inline constexpr std::array<std::byte, 1> kBreakpoint = {std::byte{0xCC}};  // int3

/// si_code of the SIGTRAP of a breakpoint (do_int3_user() in arch/x86/kernel/traps.c).
[[nodiscard]] constexpr bool is_breakpoint_code(int code) { return code == SI_KERNEL; }
/// si_code of the SIGTRAP at the end of a single step, over an instruction or through a system call
/// (user_single_step_report() in arch/x86/kernel/ptrace.c). Hypervisors sometimes lose a step's
/// DR6.BS, in bursts and for several processes at once; the kernel then takes the step for an int1
/// and reports TRAP_BRKPT (exc_debug_user() in arch/x86/kernel/traps.c).
[[nodiscard]] constexpr bool is_step_code(int code) {
  return code == TRAP_TRACE || code == TRAP_BRKPT;
}

/// The si_code: it tells all.
[[nodiscard]] inline int trap_code(const siginfo_t& info) { return info.si_code; }

/// int3 is a trap: rip is already behind it (Intel SDM volume 3, section 6.5).
[[nodiscard]] core::Address breakpoint_of_trap(core::Address pc);

}  // namespace sp::arch::x86_64
