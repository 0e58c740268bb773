#pragma once

#include <cstdint>

namespace sp::symbols {

/// What LLVM packs into the discriminator of a line (DILocation in its DebugInfoMetadata.h): three
/// numbers, each 0 as the bit 1, below 32 as 5 bits between two 0 bits, below 4096 as 12 bits with
/// a 1 between the lowest five and the others.
struct Discriminator {
  std::uint32_t base = 0;    // tells the blocks of one line apart
  std::uint32_t copies = 1;  // how many copies the code was made into, by unrolling for example
};
[[nodiscard]] Discriminator unpacked_discriminator(std::uint32_t packed);

}  // namespace sp::symbols
