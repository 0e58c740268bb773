#include "profiler/html/number_stream.h"

#include <ostream>
#include <string_view>

namespace sp::profiler {

void NumberStream::put(std::uint64_t number) {
  constexpr std::uint64_t kMore = 0x80;
  while (number >= kMore) {
    put_byte(static_cast<std::uint8_t>(number | kMore));
    number >>= 7U;
  }
  put_byte(static_cast<std::uint8_t>(number));
}

void NumberStream::finish() {
  if (used_ > 0) {
    write_group();
  }
}

void NumberStream::put_byte(std::uint8_t byte) {
  group_[used_++] = byte;
  if (used_ == kGroup) {
    write_group();
  }
}

void NumberStream::write_group() {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const unsigned bits = (unsigned{group_[0]} << 16U) | (unsigned{group_[1]} << 8U) | group_[2];
  std::array<char, 4> text{};
  for (unsigned i = 0; i < text.size(); ++i) {
    text[i] = i <= used_ ? kLetters[(bits >> (18U - 6U * i)) & 0x3FU] : '=';
  }
  out_.write(text.data(), text.size());
  group_ = {};
  used_ = 0;
}

}  // namespace sp::profiler
