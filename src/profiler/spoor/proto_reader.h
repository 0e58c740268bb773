#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

/// Protocol Buffers' wire format, as far as a reader of messages needs it:
/// https://protobuf.dev/programming-guides/encoding/
namespace sp::profiler {

/// The fields of one message, in their order.
class ProtoReader {
 public:
  struct Field {
    std::uint32_t number = 0;
    std::uint64_t value = 0;  // of a number
    std::string_view bytes;   // of a text or a message; it points into what is read
  };

  explicit ProtoReader(std::string_view message) : rest_(message) {}

  /// Nothing at the end, and where the message is damaged.
  [[nodiscard]] std::optional<Field> next();
  [[nodiscard]] bool is_damaged() const { return is_damaged_; }

 private:
  [[nodiscard]] std::uint64_t varint();
  [[nodiscard]] std::string_view take(std::uint64_t size);

  std::string_view rest_;
  bool is_damaged_ = false;
};

}  // namespace sp::profiler
