#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include "arch/emulation.h"

namespace sp::arch {

/// Memory with the given 64-bit words; other accesses fail.
class PretendedMemory : public MemoryAccess {
 public:
  std::map<std::uint64_t, std::uint64_t> words;

  bool read(core::Address from, std::span<std::byte> to) override {
    for (std::size_t i = 0; i < to.size(); ++i) {
      const auto word = words.find((from.value() + i) & ~7ULL);
      if (word == words.end()) {
        return false;
      }
      to[i] = static_cast<std::byte>((word->second >> (8 * ((from.value() + i) & 7U))) & 0xFFU);
    }
    return true;
  }

  bool write(core::Address to, std::span<const std::byte> from) override {
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (!words.contains((to.value() + i) & ~7ULL)) {
        return false;
      }
    }
    for (std::size_t i = 0; i < from.size(); ++i) {
      std::uint64_t& word = words[(to.value() + i) & ~7ULL];
      const auto shift = 8 * ((to.value() + i) & 7U);
      word = (word & ~(0xFFULL << shift)) | (std::to_integer<std::uint64_t>(from[i]) << shift);
    }
    return true;
  }
};

}  // namespace sp::arch
