#include "profiler/formats/json_writer.h"

#include <fmt/format.h>

#include <cmath>
#include <ostream>
#include <string>

#include "profiler/text.h"

namespace sp::profiler {

JsonWriter& JsonWriter::key(std::string_view name) {
  start_value();
  out_ << json_string(name) << ": ";
  after_key_ = true;
  return *this;
}

void JsonWriter::string(std::string_view text) {
  start_value();
  out_ << json_string(text);
}

void JsonWriter::boolean(bool value) {
  start_value();
  out_ << (value ? "true" : "false");
}

void JsonWriter::null() {
  start_value();
  out_ << "null";
}

void JsonWriter::real(double value) {
  if (!std::isfinite(value)) {
    null();
    return;
  }
  start_value();
  out_ << fmt::format("{:.3f}", value);
}

void JsonWriter::signed_number(long long value) {
  start_value();
  out_ << fmt::format("{}", value);
}

void JsonWriter::unsigned_number(unsigned long long value) {
  start_value();
  out_ << fmt::format("{}", value);
}

void JsonWriter::begin(char bracket) {
  start_value();
  out_ << bracket;
  values_in_level_.push_back(0);
}

void JsonWriter::end(char bracket) {
  const bool empty = values_in_level_.back() == 0;
  values_in_level_.pop_back();
  if (!empty) {
    new_line();
  }
  out_ << bracket;
  if (values_in_level_.empty()) {
    out_ << '\n';
  }
}

void JsonWriter::start_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (values_in_level_.empty()) {
    return;
  }
  if (values_in_level_.back()++ > 0) {
    out_ << ',';
  }
  new_line();
}

void JsonWriter::new_line() { out_ << '\n' << std::string(2 * values_in_level_.size(), ' '); }

}  // namespace sp::profiler
