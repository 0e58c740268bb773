#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include "commands/report/trace_table.h"

namespace sp::report {

/// "1.234 us", "12.345 s": for people.
[[nodiscard]] std::string duration_text(std::uint64_t ns);

/// What a table of a trace is of.
struct TraceTitle {
  std::string run;        // its command
  std::string_view rows;  // "functions", "threads"
  bool raw_times = false;
  bool has_threads = false;  // more than one
  std::uint64_t lost_events = 0;
};

/// Columns for people: a line that says what the numbers are, the headings, the rows.
void write_trace_text(std::ostream& out, const TraceTitle& title, const TraceTable& table);
void write_trace_json(std::ostream& out, const TraceTitle& title, const TraceTable& table);

}  // namespace sp::report
