#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

/// Zstandard (RFC 8878), one frame a chunk.
namespace sp::profiler {

class Compressor {
 public:
  Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;
  ~Compressor();

  /// Valid until the next call. Empty if the frame would not be smaller than `bytes`.
  [[nodiscard]] std::span<const std::byte> compress(std::span<const std::byte> bytes);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
  std::vector<std::byte> out_;
};

class Decompressor {
 public:
  Decompressor();
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;
  ~Decompressor();

  /// What one frame holds; nothing if it is damaged, or holds more than `most` bytes, or does not
  /// say how many: the size is known before anything is allocated.
  [[nodiscard]] std::optional<std::vector<std::byte>> decompress(std::span<const std::byte> frame,
                                                                 std::size_t most);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace sp::profiler
