#include "cli/command_table.h"

#include <algorithm>
#include <array>

namespace sp::cli {
namespace {

constexpr auto kCommands = std::to_array<CommandRow>({
    {Command::annotate, "annotate", "annotate RUN FUNCTION", "a function with its counts",
     Takes::run_and_function},
    {Command::report, "report", "report [RUN]", "the functions of a run", Takes::run},
    {Command::diff, "diff", "diff A B", "what differs between two runs", Takes::two_runs},
    {Command::replay, "replay", "replay [RUN]", "the calls of a trace, indented", Takes::run},
    {Command::info, "info", "info [RUN]", "what a recording holds", Takes::run},
    {Command::convert, "convert", "convert RUN -f FORMAT", "a run for other programs", Takes::run},
    {Command::coverage, "coverage", "coverage [RUN]", "what a run with --coverage has reached",
     Takes::runs},
    {Command::xray, "xray", "xray BIN", "the sleds that clang left in a file or process",
     Takes::file},
    {Command::symbols, "symbols", "symbols BIN", "all functions of a file, and which are traced",
     Takes::file},
    {Command::dump, "dump", "dump -p PID", "all stacks of a process, once"},
    {Command::ctl, "ctl", "ctl PATH COMMAND", "tells a run with --control what to do", Takes::file},
    {Command::count, "count", "count FUNC -p PID", "how often functions are called, live",
     Takes::functions},
    {Command::top, "top", "top -p PID", "where a process spends its time, live"},
    {Command::doctor, "doctor", "doctor [-p PID]", "what this machine allows"},
});

}  // namespace

std::span<const CommandRow> command_table() { return kCommands; }

const CommandRow* find_command(std::string_view name) {
  const auto row = std::find_if(kCommands.begin(), kCommands.end(),
                                [name](const CommandRow& one) { return one.name == name; });
  return row == kCommands.end() ? nullptr : &*row;
}

const CommandRow* command_row(Command command) {
  const auto row = std::find_if(kCommands.begin(), kCommands.end(),
                                [command](const auto& one) { return one.command == command; });
  return row == kCommands.end() ? nullptr : &*row;
}

}  // namespace sp::cli
