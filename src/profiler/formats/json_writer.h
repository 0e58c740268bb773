#pragma once

#include <concepts>
#include <cstddef>
#include <iosfwd>
#include <string_view>
#include <vector>

namespace sp::profiler {

/// Writes one JSON document (RFC 8259), two blanks a level. The caller opens and closes in order;
/// inside an object every value follows its key.
class JsonWriter {
 public:
  explicit JsonWriter(std::ostream& out) : out_(out) {}

  void begin_object() { begin('{'); }
  void end_object() { end('}'); }
  void begin_array() { begin('['); }
  void end_array() { end(']'); }
  JsonWriter& key(std::string_view name);

  void string(std::string_view text);
  void boolean(bool value);
  void null();
  /// Three decimal places; null if not finite.
  void real(double value);
  template <std::integral Number>
  void number(Number value) {
    if constexpr (std::signed_integral<Number>) {
      signed_number(value);
    } else {
      unsigned_number(value);
    }
  }

 private:
  void begin(char bracket);
  void end(char bracket);
  void start_value();
  void new_line();
  void signed_number(long long value);
  void unsigned_number(unsigned long long value);

  std::ostream& out_;
  std::vector<std::size_t> values_in_level_;
  bool after_key_ = false;
};

}  // namespace sp::profiler
