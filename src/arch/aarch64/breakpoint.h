#pragma once

#include <signal.h>

#include <array>
#include <cstddef>

#include "core/address.h"

namespace sp::arch::aarch64 {

// brk #0 = 0xD4200000, little endian.
inline constexpr std::array<std::byte, 4> kBreakpoint = {std::byte{0x00}, std::byte{0x00},
                                                         std::byte{0x20}, std::byte{0xD4}};

/// si_code of the SIGTRAP of a breakpoint (brk_handler() in arch/arm64/kernel/debug-monitors.c), or
/// what mark_trap() makes of it.
[[nodiscard]] constexpr bool is_breakpoint_code(int code) {
  return code == TRAP_BRKPT || code == SI_KERNEL;
}
/// si_code of the SIGTRAP at the end of a single step.
[[nodiscard]] constexpr bool is_step_code(int code) { return code == TRAP_TRACE; }

/// The si_code, but TRAP_TRACE for the end of a step through a system call: the kernel reports that
/// as if nobody had sent a signal (user_single_step_report() in include/linux/ptrace.h).
[[nodiscard]] inline int trap_code(const siginfo_t& info) {
  const bool is_from_nobody = info.si_code == SI_USER && info.si_pid == 0 && info.si_uid == 0;
  return info.si_signo == SIGTRAP && is_from_nobody ? TRAP_TRACE : info.si_code;
}

/// brk is an exception on the instruction itself: pc stays on it (Arm ARM, D1.3.5).
[[nodiscard]] core::Address breakpoint_of_trap(core::Address pc);

}  // namespace sp::arch::aarch64
