#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Protocol Buffers' wire format, as far as a writer of messages needs it:
/// https://protobuf.dev/programming-guides/encoding/
namespace sp::profiler {

/// The fields of one message. Fields that are 0 are left out, as proto3 does.
class ProtoMessage {
 public:
  void number(std::uint32_t field, std::uint64_t value) {
    if (value != 0) {
      tag(field, kVarint);
      varint(value);
    }
  }
  /// Also if it is 0, as fields of a oneof are.
  void chosen_number(std::uint32_t field, std::uint64_t value) {
    tag(field, kVarint);
    varint(value);
  }
  void bytes(std::uint32_t field, std::string_view value) {
    tag(field, kLengthDelimited);
    varint(value.size());
    text_ += value;
  }
  void message(std::uint32_t field, const ProtoMessage& value) { bytes(field, value.text_); }
  /// Repeated numbers, packed: zeros count.
  template <typename Range>
  void numbers(std::uint32_t field, const Range& values) {
    ProtoMessage packed;
    for (const std::uint64_t value : values) {
      packed.varint(value);
    }
    bytes(field, packed.text_);
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  static constexpr std::uint64_t kVarint = 0;
  static constexpr std::uint64_t kLengthDelimited = 2;

  void tag(std::uint32_t field, std::uint64_t wire_type) {
    varint((std::uint64_t{field} << 3U) | wire_type);
  }
  void varint(std::uint64_t value) {
    while (value >= 0x80) {
      text_ += static_cast<char>((value & 0x7FU) | 0x80U);
      value >>= 7U;
    }
    text_ += static_cast<char>(value);
  }

  std::string text_;
};

}  // namespace sp::profiler
