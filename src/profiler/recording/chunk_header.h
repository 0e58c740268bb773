#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "profiler/recording/container.h"

namespace sp::profiler {

using ChunkHeaderBytes = std::array<std::byte, kChunkHeaderSize>;
using ContainerHeaderBytes = std::array<std::byte, kContainerHeaderSize>;

struct ChunkHeader {
  std::uint32_t kind = 0;
  bool compressed = false;
  std::uint64_t stored = 0;  // bytes behind the header, without padding
  std::uint32_t checksum = 0;
  std::uint32_t set = 0;
};

[[nodiscard]] ChunkHeaderBytes encode(const ChunkHeader& header);
[[nodiscard]] ChunkHeader decode(const ChunkHeaderBytes& bytes);

/// CRC-32C of the header, with a checksum of 0, and of what is stored.
[[nodiscard]] std::uint32_t checksum_of(ChunkHeaderBytes header, std::span<const std::byte> stored);

[[nodiscard]] ContainerHeaderBytes encode(const ContainerHeader& header);
/// What may be wrong with the first bytes of a file.
enum class HeaderCheck : std::uint8_t { good, not_a_container, later_version, damaged };
[[nodiscard]] HeaderCheck decode(const ContainerHeaderBytes& bytes, ContainerHeader& header);
/// The value of the header's flags.
[[nodiscard]] std::uint64_t container_flags(bool finished);

/// `size`, rounded up to a multiple of 8.
[[nodiscard]] constexpr std::uint64_t padded(std::uint64_t size) { return (size + 7) / 8 * 8; }

}  // namespace sp::profiler
