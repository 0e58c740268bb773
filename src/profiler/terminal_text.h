#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sp::profiler {

/// Lines for a terminal of some width, in colour if wanted.
class TerminalText {
 public:
  TerminalText(std::size_t columns, bool colour) : columns_(columns), colour_(colour) {}

  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] std::string bold(std::string_view text) const;
  [[nodiscard]] std::string warning(std::string_view text) const;

  void line(std::string_view text);
  /// One paragraph, broken at blanks; all lines but the first are indented.
  void paragraph(std::string_view text);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::size_t columns_;
  bool colour_;
  std::string text_;
};

}  // namespace sp::profiler
