#pragma once

#include <array>
#include <cstddef>

namespace sp::arch::x86_64 {

/// What it takes to replace code while CPUs execute it.
struct LivePatch {
  /// A breakpoint: a thread that comes there traps. Two bytes, such as a jump to itself, would be
  /// executed in part old and in part new: where the CPU has FSRM, write(2) to /proc/PID/mem stores
  /// byte by byte (rep movsb in arch/x86/lib/memcpy_64.S), aligned words as well.
  static constexpr std::array<std::byte, 1> kHold = {std::byte{0xCC}};
  static constexpr bool kHoldTraps = true;
};

}  // namespace sp::arch::x86_64
