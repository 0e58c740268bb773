#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <span>
#include <string>

#include "profiler/recording/container_writer.h"

namespace sp::profiler::test {

/// A file in memory; one that is full from `room` bytes on.
class MemorySink final : public ByteSink {
 public:
  core::Result<void> append(std::span<const std::byte> bytes) override {
    if (bytes.size() > room - text.size()) {
      return core::fail("appending", ENOSPC);
    }
    text.append(static_cast<const char*>(static_cast<const void*>(bytes.data())), bytes.size());
    return {};
  }
  core::Result<void> replace(std::uint64_t offset, std::span<const std::byte> bytes) override {
    std::transform(bytes.begin(), bytes.end(), text.begin() + static_cast<std::ptrdiff_t>(offset),
                   [](std::byte byte) { return static_cast<char>(byte); });
    return {};
  }

  std::string text;
  std::size_t room = std::size_t{1} << 30U;
};

inline std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

}  // namespace sp::profiler::test
