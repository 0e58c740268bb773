#include "commands/record/status_line.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace sp::record {
namespace {

std::string with_commas(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) {
    digits.insert(at - 3, ",");
  }
  return digits;
}

void write_all(std::string_view text) {
  // A status line that cannot be written is no loss.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

std::string status_text(const StatusNumbers& numbers, std::size_t columns) {
  std::string text = fmt::format("{:.1f} s  {} samples", core::seconds(numbers.elapsed),
                                 with_commas(numbers.samples));
  if (numbers.blocked > 0) {
    text += fmt::format(" ({} blocked)", with_commas(numbers.blocked));
  }
  if (numbers.interval > core::Duration{}) {
    text += fmt::format("  every {} us", core::microseconds(numbers.interval));
  }
  if (numbers.copies > 0) {
    text += fmt::format("  {} function{} from copies", with_commas(numbers.copies),
                        numbers.copies == 1 ? "" : "s");
  }
  text += fmt::format("  overhead {:.1f} %", numbers.overhead_percent);
  if (numbers.lost > 0) {
    text += fmt::format("  {} lost", with_commas(numbers.lost));
  }
  return text.substr(0, columns > 0 ? columns - 1 : 0);
}

StatusLine::StatusLine(bool wanted) : wanted_(wanted && ::isatty(STDERR_FILENO) == 1) {}

void StatusLine::show(const StatusNumbers& numbers) {
  if (!wanted_ || ::tcgetpgrp(STDERR_FILENO) != ::getpgrp()) {
    return;
  }
  write_all("\r\x1b[2K" + status_text(numbers, terminal_columns()));
  shown_ = true;
}

void StatusLine::clear() {
  if (shown_) {
    write_all("\r\x1b[2K");
    shown_ = false;
  }
}

std::size_t terminal_columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    return 80;
  }
  return std::max<std::size_t>(size.ws_col, 40);
}

bool wants_colour(cli::Color color) {
  return color == cli::Color::always ||
         (color == cli::Color::automatic && ::isatty(STDERR_FILENO) == 1);
}

}  // namespace sp::record
