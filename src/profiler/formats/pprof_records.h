#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "profiler/formats/protobuf.h"

namespace sp::profiler {

/// Writes the records of pprof's profile.proto one by one and numbers them, from 1. Field numbers:
/// https://github.com/google/pprof/blob/main/proto/profile.proto
class PprofRecords {
 public:
  struct Mapping {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::string_view file;
    std::string_view build_id;
  };

  explicit PprofRecords(std::ostream& out);

  /// The number of a string that other records have too.
  std::uint64_t shared_string(std::string_view text);

  void sample_type(std::string_view type, std::string_view unit);
  void default_sample_type(std::string_view type);
  void period(std::string_view type, std::string_view unit, std::uint64_t period);
  void times(std::uint64_t start_ns, std::uint64_t duration_ns);
  void comment(std::string_view text);

  std::uint64_t mapping(const Mapping& mapping);
  std::uint64_t function(std::string_view name, std::string_view file);
  /// `line` is 0 if unknown.
  std::uint64_t location(std::uint64_t mapping, std::uint64_t address, std::uint64_t function,
                         std::uint64_t line);
  /// Locations from the innermost outwards, and a value for each sample_type().
  void sample(std::span<const std::uint64_t> locations, std::span<const std::uint64_t> values);

 private:
  void put(std::uint32_t field, const ProtoMessage& message);
  void put_number(std::uint32_t field, std::uint64_t value);
  std::uint64_t new_string(std::string_view text);
  ProtoMessage value_type(std::string_view type, std::string_view unit);

  std::ostream& out_;
  std::unordered_map<std::string, std::uint64_t> strings_;
  std::uint64_t last_string_ = 0;
  std::uint64_t last_mapping_ = 0;
  std::uint64_t last_function_ = 0;
  std::uint64_t last_location_ = 0;
};

}  // namespace sp::profiler
