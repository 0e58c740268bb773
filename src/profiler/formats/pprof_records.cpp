#include "profiler/formats/pprof_records.h"

#include <ostream>

#include "profiler/text.h"

namespace sp::profiler {
namespace {

// Fields of the message Profile.
constexpr std::uint32_t kSampleType = 1;
constexpr std::uint32_t kSample = 2;
constexpr std::uint32_t kMapping = 3;
constexpr std::uint32_t kLocation = 4;
constexpr std::uint32_t kFunction = 5;
constexpr std::uint32_t kString = 6;
constexpr std::uint32_t kTimeNanos = 9;
constexpr std::uint32_t kDurationNanos = 10;
constexpr std::uint32_t kPeriodType = 11;
constexpr std::uint32_t kPeriod = 12;
constexpr std::uint32_t kComment = 13;
constexpr std::uint32_t kDefaultSampleType = 14;

}  // namespace

PprofRecords::PprofRecords(std::ostream& out) : out_(out) {
  ProtoMessage empty;  // string 0
  empty.bytes(kString, "");
  out_ << empty.text();
}

void PprofRecords::put(std::uint32_t field, const ProtoMessage& message) {
  ProtoMessage one;
  one.message(field, message);
  out_ << one.text();
}

void PprofRecords::put_number(std::uint32_t field, std::uint64_t value) {
  ProtoMessage one;
  one.number(field, value);
  out_ << one.text();
}

std::uint64_t PprofRecords::new_string(std::string_view text) {
  ProtoMessage one;
  one.bytes(kString, utf8_text(text));
  out_ << one.text();
  return ++last_string_;
}

std::uint64_t PprofRecords::shared_string(std::string_view text) {
  if (text.empty()) {
    return 0;
  }
  const auto [place, is_new] = strings_.try_emplace(std::string(text), 0);
  if (is_new) {
    place->second = new_string(text);
  }
  return place->second;
}

ProtoMessage PprofRecords::value_type(std::string_view type, std::string_view unit) {
  ProtoMessage message;
  message.number(1, shared_string(type));
  message.number(2, shared_string(unit));
  return message;
}

void PprofRecords::sample_type(std::string_view type, std::string_view unit) {
  put(kSampleType, value_type(type, unit));
}

void PprofRecords::default_sample_type(std::string_view type) {
  put_number(kDefaultSampleType, shared_string(type));
}

void PprofRecords::period(std::string_view type, std::string_view unit, std::uint64_t period) {
  put(kPeriodType, value_type(type, unit));
  put_number(kPeriod, period);
}

void PprofRecords::times(std::uint64_t start_ns, std::uint64_t duration_ns) {
  put_number(kTimeNanos, start_ns);
  put_number(kDurationNanos, duration_ns);
}

void PprofRecords::comment(std::string_view text) { put_number(kComment, shared_string(text)); }

std::uint64_t PprofRecords::mapping(const Mapping& mapping) {
  ProtoMessage message;
  message.number(1, ++last_mapping_);
  message.number(2, mapping.start);
  message.number(3, mapping.end);
  message.number(5, shared_string(mapping.file));
  message.number(6, shared_string(mapping.build_id));
  for (const std::uint32_t has : {7U, 8U, 9U}) {  // functions, file names, lines
    message.number(has, 1);
  }
  put(kMapping, message);
  return last_mapping_;
}

std::uint64_t PprofRecords::function(std::string_view name, std::string_view file) {
  const std::uint64_t name_string = new_string(name);
  ProtoMessage message;
  message.number(1, ++last_function_);
  message.number(2, name_string);
  message.number(3, name_string);  // the linkage name is not known
  message.number(4, shared_string(file));
  put(kFunction, message);
  return last_function_;
}

std::uint64_t PprofRecords::location(std::uint64_t mapping, std::uint64_t address,
                                     std::uint64_t function, std::uint64_t line) {
  ProtoMessage where;
  where.number(1, function);
  where.number(2, line);
  ProtoMessage message;
  message.number(1, ++last_location_);
  message.number(2, mapping);
  message.number(3, address);
  message.message(4, where);
  put(kLocation, message);
  return last_location_;
}

void PprofRecords::sample(std::span<const std::uint64_t> locations,
                          std::span<const std::uint64_t> values) {
  ProtoMessage message;
  message.numbers(1, locations);
  message.numbers(2, values);
  put(kSample, message);
}

}  // namespace sp::profiler
