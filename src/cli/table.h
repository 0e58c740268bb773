#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sp::cli {

/// What a command line asks for; no sub-command means record.
enum class Command : std::uint8_t { record, doctor, annotate };

enum class Group : std::uint8_t { target, sampling, exact, output, terminal, other };

/// What a shell offers as an option's value.
enum class Completes : std::uint8_t { nothing, choices, files, directories, processes, commands };

/// One option, as the parser, --help, the completions and the tests of the man page know it.
struct OptionRow {
  std::string_view name;   // the long name, without dashes
  char letter = '\0';      // the short name
  std::string_view value;  // how --help calls the value; "" for a flag
  std::string_view help;   // one line
  Group group = Group::other;
  Completes completes = Completes::nothing;
  std::string_view choices = "";  // separated by blanks
  bool for_doctor = false;        // the sub-commands take it too
  bool for_annotate = false;
  /// The value may be left out, and is only read behind "=": --single, --single=step.
  bool value_optional = false;

  [[nodiscard]] bool is_for(Command command) const {
    return command == Command::record || (command == Command::doctor ? for_doctor : for_annotate);
  }
  /// The word behind it is its value.
  [[nodiscard]] bool takes_next_word() const { return !value.empty() && !value_optional; }
};

/// All of them, in the order of --help.
[[nodiscard]] std::span<const OptionRow> option_table();

/// The row of a long name that the table has.
[[nodiscard]] const OptionRow& option_row(std::string_view name);

/// The heading of a group in --help.
[[nodiscard]] std::string_view heading(Group group);

/// The option whose name is nearest to what was typed ("--intervall", "--nmae=x"); nullptr where
/// nothing is near enough to have been meant.
[[nodiscard]] const OptionRow* nearest_option(std::string_view typed);

}  // namespace sp::cli
