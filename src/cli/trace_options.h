#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/function_trace.h"
#include "core/trace_trigger.h"

/// What the command line says of --trace and --tree.
namespace sp::cli {

using core::Duration;

/// --trace, and what is kept of it.
struct TraceOptions {
  core::WhenFull when_full = core::WhenFull::flush;
  std::size_t buffer = 65'536;   // events of a thread, at least 1
  Duration min_duration{};       // shorter calls are left out
  std::uint32_t max_depth = 0;   // 0: any
  std::uint64_t most_bytes = 0;  // of trace.sp; 0: any size
  bool waits_when_full = false;  // threads do, where they call faster than can be recorded
};

/// What --trace and --tree can be told while they run.
struct TraceControlOptions {
  std::string path;         // of the socket that is made for that; "": none
  bool begins_off = false;  // until somebody switches it on
  std::vector<core::TraceTrigger> triggers{};
  std::optional<double> dormant_after_percent{};
};

/// --emit: who gets the tree while it grows.
struct EmitTo {
  std::string path;                          // of a listening stream socket; "": `fd`
  int fd = -1;                               // a connected one
  Duration every = std::chrono::seconds(1);  // at least 10 ms
  bool has_names = true;
  std::uint64_t budget_bytes = 0;  // in `budget_time`; 0: no limit
  Duration budget_time{};
  std::vector<std::string> labels;  // "KEY=VALUE"
};

/// --tree.
struct TreeOptions {
  std::optional<EmitTo> emit;
};

/// --learn: which functions cost too much to be traced.
struct LearnOptions {
  Duration time{};                   // from the first sample on, above 0
  double keep_overhead_percent = 5;  // what the rest may cost
};

}  // namespace sp::cli
