#include "profiler/formats/compact_json.h"

#include <fmt/format.h>

#include "profiler/text.h"

namespace sp::profiler {

void CompactJson::open(char bracket) {
  begin_value();
  out_ += bracket;
}

CompactJson& CompactJson::key(std::string_view name) {
  begin_value();
  out_ += '"';
  out_ += name;
  out_ += "\":";
  return *this;
}

CompactJson& CompactJson::text_key(std::string_view name) {
  begin_value();
  out_ += json_string(name);
  out_ += ':';
  return *this;
}

void CompactJson::string(std::string_view text) {
  begin_value();
  out_ += json_string(text);
}

void CompactJson::number(std::uint64_t value) {
  constexpr std::uint64_t kInexact = std::uint64_t{1} << 53U;
  begin_value();
  const fmt::format_int digits(value);
  if (value < kInexact) {
    out_.append(digits.data(), digits.size());
    return;
  }
  out_ += '"';
  out_.append(digits.data(), digits.size());
  out_ += '"';
}

void CompactJson::signed_number(std::int64_t value) {
  constexpr std::int64_t kInexact = std::int64_t{1} << 53U;
  begin_value();
  const fmt::format_int digits(value);
  const bool is_exact = value > -kInexact && value < kInexact;
  out_ += is_exact ? "" : "\"";
  out_.append(digits.data(), digits.size());
  out_ += is_exact ? "" : "\"";
}

void CompactJson::integer(std::int32_t value) {
  begin_value();
  out_ += fmt::format("{}", value);
}

void CompactJson::boolean(bool value) {
  begin_value();
  out_ += value ? "true" : "false";
}

void CompactJson::null() {
  begin_value();
  out_ += "null";
}

void CompactJson::count(std::string_view name, std::uint64_t value) {
  if (value > 0) {
    key(name).number(value);
  }
}

void CompactJson::begin_value() {
  constexpr std::string_view kNoCommaBehind = "{[:\n";
  if (!out_.empty() && kNoCommaBehind.find(out_.back()) == std::string_view::npos) {
    out_ += ',';
  }
}

}  // namespace sp::profiler
