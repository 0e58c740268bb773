#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cli/cli.h"
#include "commands/report/duration_histogram.h"
#include "profiler/trace/trace_reader.h"
#include "profiler/trace/traced_call.h"

namespace sp::report {

/// A function's traced calls, or a thread's.
struct TraceRow {
  std::string name;
  std::string module;  // "" if unknown; of a thread "pid 7"
  std::string source;  // "file:line", "" if unknown
  std::string kind;    // of which part of the run these calls are: "exact", "exact-until:2.742"
  std::uint64_t calls = 0;
  std::uint64_t total_ns = 0;  // in it and its callees: a recursion counts once
  std::uint64_t self_ns = 0;
  DurationHistogram durations;              // of calls whose beginning and end were seen
  std::uint64_t durations_ns = 0;           // their sum
  std::array<std::uint64_t, 6> closings{};  // by TraceClosing
};

struct TraceTable {
  std::vector<TraceRow> rows;  // sorted
  std::uint64_t calls = 0;
  std::uint64_t total_ns = 0;  // of all outermost calls
  std::uint64_t left_out = 0;  // rows below the limit
};

/// Sums up calls. Takes memory for the functions that have some, at most 8 KiB each.
class TraceSums final : public profiler::CallVisitor {
 public:
  explicit TraceSums(bool by_thread) : by_thread_(by_thread) {}

  void begin(const profiler::TracedCall& call) override;
  void end(const profiler::TracedCall& call) override;

  /// Sorted; without rows whose total, or with Sort::calls whose calls, are below `percent_limit`
  /// of all. `misses_some`: of the calls, and nobody knows which.
  [[nodiscard]] TraceTable table(const profiler::TraceReader& trace, cli::Sort sort,
                                 double percent_limit, bool misses_some = false) const;

 private:
  using Track = std::pair<std::uint32_t, std::uint32_t>;  // thread and stack

  const bool by_thread_;
  std::unordered_map<std::uint32_t, TraceRow> rows_;  // by function, or by thread
  std::map<Track, std::unordered_map<std::uint32_t, std::uint32_t>> open_;  // calls of functions
  std::uint64_t total_ns_ = 0;
};

}  // namespace sp::report
