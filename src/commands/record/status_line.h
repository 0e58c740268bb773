#pragma once

#include <cstdint>
#include <string>

#include "cli/cli.h"
#include "core/clock.h"
#include "core/run_facts.h"

namespace sp::session {

/// What the status line tells; from any thread's counters.
struct StatusNumbers {
  core::Duration elapsed{};
  std::uint64_t samples = 0;
  std::uint64_t blocked = 0;
  std::uint64_t lost = 0;
  double overhead_percent = 0;
  core::Duration interval{};
};

/// "12.3 s  45,678 samples  every 200 us  overhead 4.1 %", cut to `columns`.
[[nodiscard]] std::string status_text(const StatusNumbers& numbers, std::size_t columns);

/// The one line on a terminal that is rewritten in place and gone at the end. Nothing where stderr
/// is no terminal, with --no-progress, -q, or while we are in the background.
class StatusLine {
 public:
  explicit StatusLine(bool wanted);

  void show(const StatusNumbers& numbers);
  void clear();

 private:
  bool wanted_;
  bool shown_ = false;
};

/// Columns of the terminal on stderr; 80 where it is none.
[[nodiscard]] std::size_t terminal_columns();
/// Whether stderr gets colours.
[[nodiscard]] bool wants_colour(cli::Color color);

}  // namespace sp::session
