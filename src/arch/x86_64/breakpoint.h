#pragma once

#include <array>
#include <cstddef>

#include "core/address.h"

namespace sp::arch::x86_64 {

inline constexpr std::array<std::byte, 1> kBreakpoint = {std::byte{0xCC}};  // int3

/// int3 is a trap: rip is already behind it (Intel SDM volume 3, section 6.5).
[[nodiscard]] core::Address breakpoint_of_trap(core::Address pc);

}  // namespace sp::arch::x86_64
