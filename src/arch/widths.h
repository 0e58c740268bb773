#pragma once

#include <cstdint>

namespace sp::arch {

// Limits of unsigned and signed numbers of `width` bytes, 1 to 8.

inline constexpr std::uint64_t kUnbounded = ~std::uint64_t{0};

[[nodiscard]] constexpr std::uint64_t mask_of(unsigned width) {
  return width >= 8 ? kUnbounded : (std::uint64_t{1} << (8U * width)) - 1;
}

/// The largest number that sign extension leaves unchanged.
[[nodiscard]] constexpr std::uint64_t most_positive(unsigned width) { return mask_of(width) >> 1U; }

[[nodiscard]] constexpr std::uint64_t widen(std::uint64_t value, unsigned width, bool is_signed) {
  const std::uint64_t low = value & mask_of(width);
  const std::uint64_t sign = std::uint64_t{1} << (8U * width - 1U);
  return is_signed ? (low ^ sign) - sign : low;
}

}  // namespace sp::arch
