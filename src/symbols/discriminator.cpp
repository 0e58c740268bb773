#include "symbols/discriminator.h"

#include <algorithm>

namespace sp::symbols {
namespace {

std::uint32_t first(std::uint32_t packed) {
  if ((packed & 1U) != 0) {
    return 0;
  }
  const std::uint32_t rest = packed >> 1U;
  return (rest & 0x20U) != 0 ? ((rest >> 1U) & 0xfe0U) | (rest & 0x1fU) : rest & 0x1fU;
}

std::uint32_t behind_first(std::uint32_t packed) {
  if ((packed & 1U) != 0) {
    return packed >> 1U;
  }
  return packed >> ((packed & 0x40U) != 0 ? 14U : 7U);
}

}  // namespace

Discriminator unpacked_discriminator(std::uint32_t packed) {
  return {first(packed), std::max(first(behind_first(packed)), 1U)};
}

}  // namespace sp::symbols
