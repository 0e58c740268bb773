#include "profiler/spoor/snappy.h"

#include <snappy-c.h>

namespace sp::profiler {
namespace {

/// A copy of 64 bytes takes three.
constexpr std::size_t kMostUnpacked = 32;  // bytes of each byte

}  // namespace

std::optional<std::vector<std::byte>> unpack_snappy(std::span<const std::byte> block,
                                                    std::size_t size) {
  const auto* const from = static_cast<const char*>(static_cast<const void*>(block.data()));
  std::size_t said = 0;
  if (::snappy_uncompressed_length(from, block.size(), &said) != SNAPPY_OK || said != size ||
      size / kMostUnpacked > block.size()) {
    return std::nullopt;
  }
  std::vector<std::byte> bytes(size);
  auto* const to = static_cast<char*>(static_cast<void*>(bytes.data()));
  std::size_t room = size;
  if (::snappy_uncompress(from, block.size(), to, &room) != SNAPPY_OK || room != size) {
    return std::nullopt;
  }
  return bytes;
}

}  // namespace sp::profiler
