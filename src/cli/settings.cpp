#include "cli/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "cli/arguments.h"
#include "cli/command_table.h"
#include "cli/option_table.h"
#include "cli/settings_file.h"
#include "cli/shell_words.h"

namespace sp::cli {
namespace {

using core::fail;
using core::Result;

constexpr std::string_view kVariable = "SUPERPROFILER_OPTS";

/// Options of which two together are refused, or one makes the other useless: whoever types one
/// does not want the other from elsewhere.
constexpr std::array<std::string_view, 2> kRates{"interval", "frequency"};
constexpr std::array<std::string_view, 2> kVerbosities{"quiet", "verbose"};
constexpr std::array<std::string_view, 5> kInstruments{"no-instrumentation", "single", "coverage",
                                                       "trace", "tree"};
/// Each is of a table of report, which --html does not print.
constexpr std::array<std::string_view, 2> kPageOrJson{"html", "json"};
constexpr std::array<std::string_view, 2> kPageOrSort{"html", "sort"};
constexpr std::array<std::string_view, 2> kPageOrLimit{"html", "percent-limit"};

std::vector<std::string_view> rivals_of(std::string_view option) {
  std::vector<std::string_view> rivals{option};
  using Options = std::span<const std::string_view>;
  for (const Options group : {Options(kRates), Options(kVerbosities), Options(kInstruments),
                              Options(kPageOrJson), Options(kPageOrSort), Options(kPageOrLimit)}) {
    if (std::find(group.begin(), group.end(), option) != group.end()) {
      rivals.insert(rivals.end(), group.begin(), group.end());
    }
  }
  return rivals;
}

/// What a run writes; the subcommands that read runs have options of these names with a meaning of
/// their own.
constexpr std::array<std::string_view, 5> kOfRuns{"output", "flame", "by-thread", "interval",
                                                  "frequency"};

bool is_set_for(const OptionRow& row, Command command) {
  const bool is_of_runs = std::find(kOfRuns.begin(), kOfRuns.end(), row.name) != kOfRuns.end();
  return is_of_runs ? command == Command::record : row.is_for(command);
}

/// The options that are set already, and what those that are set elsewhere add.
class Merge {
 public:
  explicit Merge(Command command) : command_(command) {}

  void take(std::string_view option) {
    for (const std::string_view rival : rivals_of(option)) {
      taken_.emplace(rival);
    }
  }

  /// Adds what of `options` is for the command and not set already.
  void add(std::span<const SetOption> options, std::string_view source) {
    std::vector<std::string> added;
    for (const SetOption& option : options) {
      if (!is_set_for(option_row(option.name), command_) || taken_.contains(option.name)) {
        continue;
      }
      for (const std::string& value : option.values) {
        added.push_back(fmt::format("--{}={}", option.name, value));
      }
      if (option.values.empty()) {
        added.push_back(fmt::format("--{}", option.name));
      }
    }
    for (const SetOption& option : options) {
      take(option.name);
    }
    if (!added.empty()) {
      result_.notes.push_back(fmt::format("options from {}: {}", source, fmt::join(added, " ")));
      result_.words.insert(result_.words.end(), added.begin(), added.end());
    }
  }

  [[nodiscard]] SetWords take_result() { return std::move(result_); }

 private:
  Command command_;
  std::set<std::string, std::less<>> taken_;
  SetWords result_;
};

Result<std::vector<SetOption>> read_environment(const std::string& text) {
  const auto refuse = [](std::string_view what) {
    return fail(fmt::format("${}: {}", kVariable, what));
  };
  const bool is_blank = text.find_first_not_of(" \t\n") == std::string::npos;
  const auto words = is_blank ? Result<std::vector<std::string>>(std::vector<std::string>{})
                              : split_shell_words(text);
  if (!words) {
    return refuse(words.error().message());
  }
  if (std::find(words->begin(), words->end(), "--") != words->end()) {
    return refuse("-- and a command are for the command line only; remove them");
  }
  const auto given = Arguments::read_any(*words);
  if (!given) {
    return refuse(given.error().message());
  }
  std::vector<SetOption> options;
  for (const OptionRow& row : option_table()) {
    if (!given->has(row.name)) {
      continue;
    }
    if (!may_be_set(row)) {
      return refuse(fmt::format("--{} is for the command line only; remove it", row.name));
    }
    SetOption option{std::string(row.name), {}};
    for (std::string& value : given->all(row.name)) {
      if (!row.takes_no_value() || value != Arguments::kPlain) {
        option.values.push_back(std::move(value));
      }
    }
    options.push_back(std::move(option));
  }
  return options;
}

}  // namespace

Result<SetWords> with_settings(const std::vector<std::string>& words, const Settings& settings) {
  if (settings.environment.empty() && !settings.file) {
    return SetWords{words, settings.notes};
  }
  const CommandRow* const named = words.empty() ? nullptr : find_command(words.front());
  const Command command = named != nullptr ? named->command : Command::record;
  const std::vector<std::string> typed(words.begin() + (named != nullptr ? 1 : 0), words.end());
  const auto given = Arguments::read(typed, command);
  if (!given || given->has("help") || given->has("version") || given->has("completions")) {
    return SetWords{words, {}};  // what is typed says what there is to be said
  }
  Merge merge(command);
  for (const OptionRow& row : option_table()) {
    if (given->has(row.name)) {
      merge.take(row.name);
    }
  }
  const auto environment = read_environment(settings.environment);
  if (!environment) {
    return tl::unexpected(environment.error());
  }
  merge.add(*environment, fmt::format("${}", kVariable));
  if (settings.file) {
    const auto options = read_settings_file(*settings.file);
    if (!options) {
      return tl::unexpected(options.error());
    }
    merge.add(*options, settings.file->path);
  }
  SetWords result = merge.take_result();
  result.words.insert(result.words.end(), typed.begin(), typed.end());
  if (named != nullptr) {
    result.words.insert(result.words.begin(), words.front());
  }
  result.notes.insert(result.notes.begin(), settings.notes.begin(), settings.notes.end());
  return result;
}

}  // namespace sp::cli
