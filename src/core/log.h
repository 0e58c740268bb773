#pragma once

#include <fmt/format.h>

#include <string_view>

namespace sp::core {

enum class LogLevel { quiet, normal, verbose };

/// The prefix of every line that superprofiler writes to stderr.
inline constexpr std::string_view kLogPrefix = "superprofiler: ";

/// Sets the level; called once, before the threads start.
void set_log_level(LogLevel level);
[[nodiscard]] LogLevel log_level();

/// One line on stderr, "superprofiler: TEXT\n", in one write(2) so that lines of several
/// processes do not mix. Errors are printed at every level.
void print_error(std::string_view text);
/// Several lines, each with the prefix, in one write.
void print_lines(std::string_view text);
/// Printed unless -q.
void print_note(std::string_view text);
/// Printed with -v.
void print_detail(std::string_view text);

template <typename... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
  print_error(fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void log_note(fmt::format_string<Args...> format, Args&&... args) {
  print_note(fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void log_detail(fmt::format_string<Args...> format, Args&&... args) {
  if (log_level() == LogLevel::verbose) {
    print_detail(fmt::format(format, std::forward<Args>(args)...));
  }
}

}  // namespace sp::core
