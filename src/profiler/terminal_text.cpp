#include "profiler/terminal_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/text.h"

namespace sp::profiler {

std::string TerminalText::bold(std::string_view text) const {
  return colour_ ? fmt::format("\033[1m{}\033[0m", text) : std::string(text);
}

std::string TerminalText::warning(std::string_view text) const {
  return colour_ ? fmt::format("\033[33m{}\033[0m", text) : std::string(text);
}

void TerminalText::line(std::string_view text) {
  text_ += text;
  text_ += '\n';
}

void TerminalText::paragraph(std::string_view text) {
  const std::size_t room = std::max<std::size_t>(columns_, 50);
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t width = count_code_points(word);
    if (used > 0 && used + 1 + width > room) {
      text_ += "\n  ";
      used = 2;
    } else if (used > 0) {
      text_ += ' ';
      ++used;
    }
    text_ += word;
    used += width;
  }
  text_ += '\n';
}

}  // namespace sp::profiler
