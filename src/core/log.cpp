#include "core/log.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>

#include "core/progress_line.h"

namespace sp::core {
namespace {

std::atomic<LogLevel> g_level{LogLevel::normal};

void write_all(std::string_view rest) {
  ProgressLine::hide();
  while (!rest.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return;  // there is nobody left to tell
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

void write_line(std::string_view text) { write_all(fmt::format("{}{}\n", kLogPrefix, text)); }

}  // namespace

void set_log_level(LogLevel level) { g_level = level; }
LogLevel log_level() { return g_level; }

void print_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto end = text.find('\n');
    out += fmt::format("{}{}\n", kLogPrefix, text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  write_all(out);
}

void print_error(std::string_view text) { write_line(text); }

void print_note(std::string_view text) {
  if (g_level != LogLevel::quiet) {
    write_line(text);
  }
}

void print_detail(std::string_view text) {
  if (g_level == LogLevel::verbose) {
    write_line(text);
  }
}

}  // namespace sp::core
