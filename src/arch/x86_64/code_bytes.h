#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>

namespace sp::arch::x86_64 {

// Comparisons of code bytes without decoding.

using Bytes = std::span<const std::byte>;

[[nodiscard]] inline unsigned byte_at(Bytes bytes, std::size_t at) {
  return std::to_integer<unsigned>(bytes[at]);
}

[[nodiscard]] inline bool starts_with(Bytes bytes, std::initializer_list<unsigned> wanted) {
  if (bytes.size() < wanted.size()) {
    return false;
  }
  std::size_t at = 0;
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](unsigned value) { return byte_at(bytes, at++) == value; });
}

/// The last `distance` bytes; empty if there are fewer.
[[nodiscard]] inline Bytes tail(Bytes bytes, std::size_t distance) {
  return bytes.size() < distance ? Bytes{} : bytes.last(distance);
}

[[nodiscard]] inline std::int32_t signed32(Bytes bytes, std::size_t at) {
  std::int32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

[[nodiscard]] inline std::int8_t signed8(Bytes bytes, std::size_t at) {
  return static_cast<std::int8_t>(byte_at(bytes, at));
}

}  // namespace sp::arch::x86_64
