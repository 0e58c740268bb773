#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>

namespace sp::profiler {

/// Writes numbers, seven bits a byte with the lowest first (LEB128), in base64 (RFC 4648): what the
/// page's script reads as Bytes.
class NumberStream {
 public:
  explicit NumberStream(std::ostream& out) : out_(out) {}

  void put(std::uint64_t number);
  /// Writes what is left, with padding.
  void finish();

 private:
  static constexpr std::size_t kGroup = 3;

  void put_byte(std::uint8_t byte);
  void write_group();

  std::ostream& out_;
  std::array<std::uint8_t, kGroup> group_{};
  std::size_t used_ = 0;
};

}  // namespace sp::profiler
