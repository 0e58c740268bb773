#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sp::profiler {

/// Appends JSON without blanks to a text. The caller opens and closes in order; inside an object
/// every value follows its key.
class CompactJson {
 public:
  explicit CompactJson(std::string& out) : out_(out) {}

  void open(char bracket);
  void close(char bracket) { out_ += bracket; }
  CompactJson& key(std::string_view name);
  /// A key of any text.
  CompactJson& text_key(std::string_view name);
  void string(std::string_view text);
  /// A string from 2^53 on, where numbers of JavaScript cease to be exact.
  void number(std::uint64_t value);
  void integer(std::int32_t value);
  /// The same as number(), with a sign.
  void signed_number(std::int64_t value);
  void boolean(bool value);
  void null();
  /// Nothing if the value is 0.
  void count(std::string_view name, std::uint64_t value);

 private:
  void begin_value();

  std::string& out_;
};

}  // namespace sp::profiler
