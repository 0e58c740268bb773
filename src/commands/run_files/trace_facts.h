#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sp::run_files {

/// What the run.json in a trace says of the trace. Of one without it everything is unknown.
struct TraceFacts {
  std::optional<std::uint64_t> lost{};  // events
  std::uint64_t cleared = 0;            // events
  std::uint64_t times_off = 0;          // or began so
  std::uint64_t functions_in_part = 0;  // were traced for a part of the run only
  bool is_full = false;                 // --trace-size was reached
  std::int64_t min_duration_ns = 0;     // shorter calls were to be left out
  std::uint64_t max_depth = 0;          // deeper ones were left out; 0: none
};

[[nodiscard]] TraceFacts parse_trace_facts(const std::string& run_json);

}  // namespace sp::run_files
