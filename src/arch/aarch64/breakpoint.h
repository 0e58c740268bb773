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
/// what ptrace::mark_trap() makes of it.
[[nodiscard]] constexpr bool is_breakpoint_code(int code) {
  return code == TRAP_BRKPT || code == SI_KERNEL;
}
/// si_code of the SIGTRAP at the end of a single step.
[[nodiscard]] constexpr bool is_step_code(int code) { return code == TRAP_TRACE; }

/// brk is an exception on the instruction itself: pc stays on it (Arm ARM, D1.3.5).
[[nodiscard]] core::Address breakpoint_of_trap(core::Address pc);

}  // namespace sp::arch::aarch64
