#pragma once

#include <cstdint>
#include <string>

#include "cli/cli.h"
#include "core/clock.h"
#include "core/run_facts.h"

namespace sp::record {

/// The numbers on the status line, from the counters of any thread.
struct StatusNumbers {
  core::Duration elapsed{};
  std::uint64_t samples = 0;
  std::uint64_t blocked = 0;
  std::uint64_t lost = 0;
  double overhead_percent = 0;
  core::Duration interval{};
  std::uint64_t copies = 0;  // functions that run from copies
};

/// "12.3 s  45,678 samples  every 200 us  12 functions from copies  overhead 4.1 %", cut to
/// `columns`.
[[nodiscard]] std::string status_text(const StatusNumbers& numbers, std::size_t columns);

/// A line on the terminal that is rewritten in place and erased at the end. Shows nothing if stderr
/// is not a terminal, with --no-progress, with -q, or in the background.
class StatusLine {
 public:
  explicit StatusLine(bool wanted);

  void show(const StatusNumbers& numbers);
  void clear();

 private:
  bool wanted_;
  bool shown_ = false;
};

/// The columns of the terminal on stderr; 80 if it is not a terminal.
[[nodiscard]] std::size_t terminal_columns();
/// Whether to write colours to stderr.
[[nodiscard]] bool wants_colour(cli::Color color);

}  // namespace sp::record
