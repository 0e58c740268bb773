#pragma once

#include <array>
#include <cstddef>

namespace sp::arch::aarch64 {

/// What it takes to replace code while CPUs execute it.
struct LivePatch {
  /// A jump to itself: a thread that comes there waits. A branch may replace and be replaced by
  /// another one, a nop or a breakpoint under a running CPU ("Concurrent modification and execution
  /// of instructions" in the Arm ARM); it is an aligned word, which is stored as a whole.
  static constexpr std::array<std::byte, 4> kHold = {std::byte{0x00}, std::byte{0x00},
                                                     std::byte{0x00}, std::byte{0x14}};
  static constexpr bool kHoldTraps = false;
};

}  // namespace sp::arch::aarch64
