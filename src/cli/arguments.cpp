#include "cli/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>

#include "cli/command_table.h"
#include "cli/option_table.h"

namespace sp::cli {
namespace {

using core::fail;
using core::Result;

CLI::Option* declare(CLI::App& app, const OptionRow& row) {
  const std::string names = row.letter == '\0' ? fmt::format("--{}", row.name)
                                               : fmt::format("-{},--{}", row.letter, row.name);
  if (row.value_optional) {  // CLI11 reads a flag's value only after "="
    return app.add_flag(names)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  if (row.value.empty()) {
    return app.add_flag(names)->disable_flag_override()->multi_option_policy(
        CLI::MultiOptionPolicy::TakeLast);
  }
  return app.add_option(names)
      ->expected(1)
      ->allow_extra_args(false)  // else CLI11 takes "[a,b]" for a list
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

// Expands "-s=step", the form in --help, which CLI11 would read as an option "=".
std::string with_long_name(const std::string& word) {
  const bool short_with_value = word.size() > 2 && word[0] == '-' && word[2] == '=';
  const auto rows = option_table();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const OptionRow& one) {
    return short_with_value && one.value_optional && one.letter == word[1];
  });
  return row == rows.end() ? word : fmt::format("--{}{}", row->name, word.substr(2));
}

// How to use an option that only another command than `command` has; "" if it is none.
std::string usage_elsewhere(std::string_view typed, Command command) {
  const std::string_view name = typed.substr(0, typed.find('='));
  for (const OptionRow& row : option_table()) {
    const bool is_it = name == fmt::format("--{}", row.name) ||
                       (row.letter != '\0' && typed == fmt::format("-{}", row.letter));
    if (!is_it || row.is_for(command) || row.is_for(Command::record)) {
      continue;
    }
    for (const CommandRow& other : command_table()) {
      if (row.is_for(other.command)) {
        return fmt::format("{} is an option of {}: superprofiler {}", typed, other.name,
                           other.usage);
      }
    }
  }
  return "";
}

// The message for the first unexpected word.
std::string describe_unexpected(const std::vector<std::string>& words, Command command) {
  const std::string& first = words.front();
  if (first.size() > 1 && first.starts_with('-')) {
    if (std::string usage = usage_elsewhere(first, command); !usage.empty()) {
      return usage;
    }
    const OptionRow* nearest = nearest_option(first);
    const bool usable = nearest != nullptr && nearest->is_for(command);
    return fmt::format("there is no option {}; {}", first.substr(0, first.find('=')),
                       usable ? fmt::format("did you mean --{}?", nearest->name)
                              : std::string("superprofiler --help lists them"));
  }
  const CommandRow* const row = command_row(command);
  if (row != nullptr && option_row("command").is_for(command)) {
    return fmt::format("put -- in front of the command: superprofiler {} -- {}", row->name,
                       fmt::join(words, " "));
  }
  if (row != nullptr) {
    return fmt::format("{0} takes no command ('{1}'); it takes a process: superprofiler {0} -p PID",
                       row->name, first);
  }
  if (const CommandRow* const named = find_command(first)) {
    return fmt::format("{} is a subcommand and goes first: superprofiler {}", first, named->usage);
  }
  return fmt::format("put -- in front of the command: superprofiler -- {}", fmt::join(words, " "));
}

// Its words that are not options mean something.
bool takes_words(Command command) {
  const CommandRow* const row = command_row(command);
  return row != nullptr && row->takes != Takes::nothing;
}

// CLI11's messages begin with the option: "--interval: 1 required TEXT missing", "flame was given a
// disallowed flag override".
std::string explain(const CLI::ParseError& error) {
  std::string_view what = error.what();
  what.remove_prefix(what.starts_with("--") ? 2 : 0);
  for (const OptionRow& row : option_table()) {
    if (what.substr(0, what.find_first_of(": ")) != row.name) {
      continue;
    }
    if (row.value.empty()) {
      return fmt::format("--{0} takes no value; write --{0} alone", row.name);
    }
    return fmt::format("--{0} needs a value: --{0} {1} ({2})", row.name, row.value, row.help);
  }
  return fmt::format("{}; see superprofiler --help", what);
}

}  // namespace

Result<Arguments> Arguments::read(const std::vector<std::string>& words, Command command) {
  auto arguments = read_for(words, command);
  if (!arguments) {
    return arguments;
  }
  const auto misplaced = std::find_if(
      arguments->words_.begin(), arguments->words_.end(), [command](const std::string& word) {
        return !takes_words(command) || (word.size() > 1 && word.starts_with('-'));
      });
  if (misplaced != arguments->words_.end() && !arguments->has("help")) {
    return fail(describe_unexpected({misplaced, arguments->words_.end()}, command));
  }
  return arguments;
}

Result<Arguments> Arguments::read_any(const std::vector<std::string>& words) {
  auto arguments = read_for(words, std::nullopt);
  if (arguments && !arguments->words_.empty()) {
    const std::string& first = arguments->words_.front();
    return fail(first.starts_with('-') ? describe_unexpected(arguments->words_, Command::record)
                                       : fmt::format("'{}' is no option", first));
  }
  return arguments;
}

Result<Arguments> Arguments::read_for(const std::vector<std::string>& words,
                                      std::optional<Command> command) {
  const auto dashes = std::find(words.begin(), words.end(), "--");
  Arguments arguments;
  if (dashes != words.end()) {
    arguments.after_dashes_.emplace(dashes + 1, words.end());
  }
  std::vector<std::string> reversed;  // the order that CLI11 expects
  std::transform(words.begin(), dashes, std::back_inserter(reversed), with_long_name);
  std::reverse(reversed.begin(), reversed.end());
  try {
    CLI::App app;
    app.set_help_flag();
    if (!command || takes_words(*command)) {
      app.allow_extras();  // its words may be mixed with options
    } else {
      app.prefix_command();
    }
    std::vector<std::pair<std::string, CLI::Option*>> declared;
    for (const OptionRow& row : option_table()) {
      if (!command || row.is_for(*command)) {
        declared.emplace_back(row.name, declare(app, row));
      }
    }
    app.parse(std::move(reversed));
    for (const auto& [name, option] : declared) {
      if (option->count() > 0) {
        arguments.given_[name] = option->results();
      }
    }
    arguments.words_ = app.remaining();
  } catch (const CLI::ParseError& error) {
    return fail(explain(error));
  }
  return arguments;
}

bool Arguments::has(std::string_view option) const { return given_.contains(option); }

std::vector<std::string> Arguments::all(std::string_view option) const {
  const auto found = given_.find(option);
  return found == given_.end() ? std::vector<std::string>{} : found->second;
}

std::optional<std::string> Arguments::last(std::string_view option) const {
  const auto found = given_.find(option);
  return found == given_.end() ? std::nullopt : std::optional(found->second.back());
}

}  // namespace sp::cli
