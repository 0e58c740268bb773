#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sp::arch {

/// "f3 0f 1e fa" as bytes.
inline std::vector<std::byte> bytes_of(std::string_view hex) {
  std::vector<std::byte> bytes;
  unsigned digits = 0;
  unsigned value = 0;
  for (const char c : hex) {
    if (c == ' ') {
      continue;
    }
    const auto digit = static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
    value = value * 16 + digit;
    if (++digits % 2 == 0) {
      bytes.push_back(static_cast<std::byte>(value & 0xFFU));
      value = 0;
    }
  }
  return bytes;
}

/// An AArch64 instruction's bytes in memory.
inline std::vector<std::byte> bytes_of_word(std::uint32_t word) {
  return {static_cast<std::byte>(word & 0xFFU), static_cast<std::byte>((word >> 8U) & 0xFFU),
          static_cast<std::byte>((word >> 16U) & 0xFFU), static_cast<std::byte>(word >> 24U)};
}

}  // namespace sp::arch
