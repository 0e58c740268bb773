#include "arch/aarch64/encoding.h"

namespace sp::arch::aarch64 {

std::optional<std::uint32_t> read_word(std::span<const std::byte> bytes) {
  if (bytes.size() < 4) {
    return std::nullopt;
  }
  std::uint32_t word = 0;
  for (unsigned i = 0; i < 4; ++i) {
    word |= std::to_integer<std::uint32_t>(bytes[i]) << (8U * i);
  }
  return word;
}

}  // namespace sp::arch::aarch64
