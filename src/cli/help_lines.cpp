#include "cli/help_lines.h"

#include <fmt/format.h>

#include <string_view>

#include "cli/command_table.h"

namespace sp::cli {

std::string option_line(const OptionRow& row) {
  constexpr std::size_t kHelpColumn = 30;
  std::string left = row.letter == '\0' ? fmt::format("      --{}", row.name)
                                        : fmt::format("  -{}, --{}", row.letter, row.name);
  if (!row.value.empty()) {
    left += fmt::format(fmt::runtime(row.value_optional ? "[={}]" : " {}"), row.value);
  }
  left += left.size() + 2 <= kHelpColumn ? std::string(kHelpColumn - left.size(), ' ') : "  ";
  return fmt::format("{}{}\n", left, row.help);
}

std::string line_in(const OptionRow& row) {
  OptionRow shown = row;
  const std::size_t colon = row.help.find(": ");
  if (colon != std::string_view::npos &&
      find_command(row.help.substr(0, row.help.find_first_of(",:"))) != nullptr) {
    shown.help.remove_prefix(colon + 2);
  }
  return option_line(shown);
}

}  // namespace sp::cli
