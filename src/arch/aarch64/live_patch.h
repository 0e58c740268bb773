#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/address.h"

namespace sp::arch::aarch64 {

/// What it takes to replace code while CPUs execute it.
struct LivePatch {
  /// A jump to itself: a thread that comes there waits. A branch may replace and be replaced by
  /// another one, a nop or a breakpoint under a running CPU ("Concurrent modification and execution
  /// of instructions" in the Arm ARM).
  static constexpr std::array<std::byte, 4> kWait = {std::byte{0x00}, std::byte{0x00},
                                                     std::byte{0x00}, std::byte{0x14}};

  /// Instructions are aligned words, which are stored and fetched as a whole.
  static constexpr bool is_seen_whole(core::Address /*at*/) { return true; }
  static constexpr bool is_in_word(core::Address /*at*/) { return true; }
  static constexpr core::AddressRange store_range(core::Address at) { return {at, at + 4}; }

  static constexpr std::uint64_t kLine = 64;
};

}  // namespace sp::arch::aarch64
