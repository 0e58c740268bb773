#pragma once

#include <array>
#include <cstddef>

#include "core/address.h"

namespace sp::arch::aarch64 {

// brk #0 = 0xD4200000, little endian in memory.
inline constexpr std::array<std::byte, 4> kBreakpoint = {std::byte{0x00}, std::byte{0x00},
                                                         std::byte{0x20}, std::byte{0xD4}};

/// brk is an exception on the instruction itself: pc stays on it (Arm ARM, D1.3.5).
[[nodiscard]] core::Address breakpoint_of_trap(core::Address pc);

}  // namespace sp::arch::aarch64
