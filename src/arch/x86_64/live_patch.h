#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/address.h"

namespace sp::arch::x86_64 {

/// What it takes to replace code while CPUs execute it.
struct LivePatch {
  /// A jump to itself: a thread that comes there waits.
  static constexpr std::array<std::byte, 2> kWait = {std::byte{0xEB}, std::byte{0xFE}};

  /// A CPU that executes the code sees all of kWait or none of it, if it is written with
  /// store_range(): within a cache line, one store is seen as a whole.
  static constexpr bool is_seen_whole(core::Address at) {
    return at.value() % kLine <= kLine - kWait.size();
  }
  /// write(2) to /proc/PID/mem stores aligned words of 8 bytes with one instruction each: a 64-byte
  /// aligned range may be written at once. A kWait that lies across two of them would be torn
  /// there.
  static constexpr bool is_in_word(core::Address at) {
    return at.value() % kWord <= kWord - kWait.size();
  }
  /// That one is written alone, with 4 bytes around it, which are one store. (Two bytes alone are
  /// two: memcpy_orig in arch/x86/lib/memcpy_64.S.)
  static constexpr core::AddressRange store_range(core::Address at) { return {at - 1, at + 3}; }

  static constexpr std::uint64_t kLine = 64;

 private:
  static constexpr std::uint64_t kWord = 8;
};

}  // namespace sp::arch::x86_64
