#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace sp::core {

/// Reads a T at `offset`, however aligned; nothing if it does not lie within `bytes`.
template <typename T>
[[nodiscard]] std::optional<T> read_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) {
    return std::nullopt;
  }
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

/// The part of [offset, offset + size) that lies within `bytes`.
[[nodiscard]] inline std::span<const std::byte> cut(std::span<const std::byte> bytes,
                                                    std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size()) {
    return {};
  }
  return bytes.subspan(offset, std::min<std::uint64_t>(size, bytes.size() - offset));
}

/// The NUL-terminated text at `offset`; "" if there is none or it is not terminated.
[[nodiscard]] inline std::string_view text_at(std::span<const std::byte> bytes,
                                              std::uint64_t offset) {
  if (offset >= bytes.size()) {
    return {};
  }
  const std::byte* begin = bytes.data() + offset;
  const void* end = std::memchr(begin, 0, bytes.size() - offset);
  if (end == nullptr) {
    return {};
  }
  const auto length = static_cast<std::size_t>(static_cast<const std::byte*>(end) - begin);
  return {static_cast<const char*>(static_cast<const void*>(begin)), length};
}

}  // namespace sp::core
