#include "symbols/function_id.h"

// Compiled into this file, so that the program needs no library of it.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/bytes.h"

namespace sp::symbols {
namespace {

unsigned digit_value(char digit) {
  constexpr unsigned kTen = 10;
  return digit <= '9' ? static_cast<unsigned>(digit - '0')
                      : static_cast<unsigned>(digit - 'a') + kTen;
}

/// Of lower-case hex digits, two a byte.
std::vector<std::byte> bytes_of_hex(std::string_view hex) {
  constexpr unsigned kDigitBits = 4;
  std::vector<std::byte> bytes;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2) {
    bytes.push_back(
        static_cast<std::byte>(digit_value(hex[at]) << kDigitBits | digit_value(hex[at + 1])));
  }
  return bytes;
}

}  // namespace

std::uint32_t module_hash(const core::ElfImage& image) {
  if (const std::string& id = image.build_id(); !id.empty()) {
    const auto bytes = bytes_of_hex(id);
    return XXH32(bytes.data(), bytes.size(), 0);
  }
  XXH32_state_t state;
  XXH32_reset(&state, 0);
  for (const core::LoadSegment& segment : image.segments()) {
    if (segment.executable) {
      const auto bytes = core::cut(image.bytes(), segment.file_offset, segment.file_size);
      XXH32_update(&state, bytes.data(), bytes.size());
    }
  }
  return XXH32_digest(&state);
}

}  // namespace sp::symbols
