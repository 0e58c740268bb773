#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace sp::cli {

/// The subcommand; record if none is given.
enum class Command : std::uint8_t {
  record,
  doctor,
  annotate,
  convert,
  report,
  diff,
  info,
  dump,
  top,
  count,
  coverage,
  xray,
  symbols,
  ctl,
  replay
};

/// Some of the commands, as bits.
class Commands {
 public:
  template <typename... Each>
  constexpr explicit Commands(Each... commands) : bits_((0U | ... | bit(commands))) {}
  [[nodiscard]] constexpr bool has(Command command) const { return (bits_ & bit(command)) != 0; }

 private:
  static constexpr unsigned bit(Command command) { return 1U << static_cast<unsigned>(command); }
  unsigned bits_;
};

/// Options of the group trace are not in --help, but in --trace --help.
enum class Group : std::uint8_t { target, sampling, exact, trace, output, terminal, other };

/// What a shell completes an option's value with.
enum class Completes : std::uint8_t { nothing, choices, files, directories, processes, commands };

/// One option, for the parser, --help, the completions and the test of the man page.
struct OptionRow {
  std::string_view name;   // the long name, without dashes
  char letter = '\0';      // the short name
  std::string_view value;  // the value's name in --help; "" for a flag
  std::string_view help;   // one line
  Group group = Group::other;
  Completes completes = Completes::nothing;
  std::string_view choices = "";  // separated by blanks
  Commands commands = Commands(Command::record);
  /// The value is optional and only read after "=": --single, --single=step.
  bool value_optional = false;

  [[nodiscard]] bool is_for(Command command) const { return commands.has(command); }
  /// It is complete without a value.
  [[nodiscard]] bool takes_no_value() const { return value.empty() || value_optional; }
  /// The next word is its value.
  [[nodiscard]] bool takes_next_word() const { return !value.empty() && !value_optional; }
};

/// All options, in the order of --help.
[[nodiscard]] std::span<const OptionRow> option_table();

/// The row of a long name; nullptr if there is none.
[[nodiscard]] const OptionRow* find_option(std::string_view name);

/// The row of a long name, which must exist.
[[nodiscard]] const OptionRow& option_row(std::string_view name);

/// The option may stand in superprofiler.toml and $SUPERPROFILER_OPTS, too: all but those that name
/// a target and those that only print.
[[nodiscard]] bool may_be_set(const OptionRow& row);

/// The heading of a group in --help.
[[nodiscard]] std::string_view heading(Group group);

/// The option whose name is nearest to a misspelt one ("--intervall", "--nmae=x"); nullptr if none
/// is near enough.
[[nodiscard]] const OptionRow* nearest_option(std::string_view typed);

}  // namespace sp::cli
