#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cli/option_table.h"

namespace sp::cli {

/// What the words of a subcommand that are no options are.
enum class Takes : std::uint8_t { nothing, run, run_and_function, two_runs, runs, file, functions };

/// A subcommand, for the parser, its messages and the completions.
struct CommandRow {
  Command command;
  std::string_view name;
  std::string_view usage;  // behind "superprofiler "
  std::string_view does;   // a few words
  Takes takes = Takes::nothing;
};

/// All subcommands, in the order of --help; record, which has no name, is not among them.
[[nodiscard]] std::span<const CommandRow> command_table();

/// The row of a subcommand's name; nullptr if it is none.
[[nodiscard]] const CommandRow* find_command(std::string_view name);

/// The row of a subcommand; nullptr for record.
[[nodiscard]] const CommandRow* command_row(Command command);

}  // namespace sp::cli
