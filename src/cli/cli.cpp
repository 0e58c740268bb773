#include "cli/cli.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "cli/arguments.h"
#include "cli/command_table.h"
#include "cli/option_table.h"
#include "cli/read.h"
#include "cli/texts.h"
#include "cli/values.h"
#include "core/progress_line.h"

namespace sp::cli {

using core::fail;
using core::Result;

namespace {

constexpr int kUsageStatus = 2;

PrintAndExit usage_error(const core::Error& error) { return {error.message(), kUsageStatus}; }

Result<DoctorOptions> read_doctor(const Arguments& given) {
  if (given.after_dashes()) {
    return fail("doctor takes no command; it takes a process: superprofiler doctor -p PID");
  }
  const auto pid = read_pid(given);
  const auto color = read_color(given);
  if (!pid || !color) {
    return tl::unexpected(!pid ? pid.error() : color.error());
  }
  return DoctorOptions{*pid, *color};
}

Result<AnnotateOptions> read_annotate(const Arguments& given) {
  std::vector<std::string> named = given.words();
  if (const auto& after = given.after_dashes()) {
    named.insert(named.end(), after->begin(), after->end());
  }
  if (named.size() != 2) {
    return fail(fmt::format(
        "annotate takes a run and a function, {} given: superprofiler annotate output/NAME {}",
        named.size() == 1 ? "1 word is" : fmt::format("{} words are", named.size()),
        named.size() > 2 ? "'FUNCTION'" : "FUNCTION"));
  }
  return AnnotateOptions{named[0], named[1], given.all("debug-dir")};
}

Parsed print_texts(const Arguments& given) {
  if (given.has("version")) {
    return PrintAndExit{version_text()};
  }
  const std::string shell = given.last("completions").value_or("");
  if (const auto known = check_choice("completions", shell); !known) {
    return usage_error(known.error());
  }
  return PrintAndExit{completion_script(shell)};
}

/// The one setting that is for all commands alike, and for files that know no options.
void forbid_progress(const Arguments& given) {
  if (given.has("no-progress")) {
    core::ProgressLine::forbid();
  }
}

template <typename Read>
Parsed parse_command(const std::vector<std::string>& words, Command command, const Read& read,
                     std::string (*help)()) {
  const auto given = Arguments::read(words, command);
  if (!given) {
    return usage_error(given.error());
  }
  if (given->has("help")) {
    return PrintAndExit{help()};
  }
  auto options = read(*given);
  if (!options) {
    return usage_error(options.error());
  }
  forbid_progress(*given);
  return std::move(*options);
}

/// `notes` stand in front of those of the options.
Parsed parse_record(const std::vector<std::string>& words, const std::vector<std::string>& notes) {
  const auto given = Arguments::read(words, Command::record);
  if (!given) {
    return usage_error(given.error());
  }
  if (given->has("help")) {
    return PrintAndExit{given->has("trace") || given->has("tree") ? trace_help_text()
                                                                  : help_text()};
  }
  if (given->has("version") || given->has("completions")) {
    return print_texts(*given);
  }
  auto options = read_record(*given);
  if (!options) {
    return usage_error(options.error());
  }
  forbid_progress(*given);
  options->notes.insert(options->notes.begin(), notes.begin(), notes.end());
  return std::move(*options);
}

}  // namespace

Result<std::optional<pid_t>> read_pid(const Arguments& given) {
  const std::vector<std::string> pids = given.all("pid");
  if (pids.empty()) {
    return std::nullopt;
  }
  if (pids.size() > 1) {
    return fail("-p is given twice, and this command looks at one process; start it for each");
  }
  return parse_pid(pids.front()).map([](pid_t pid) { return std::optional(pid); });
}

Result<std::vector<pid_t>> read_pids(const Arguments& given) {
  std::vector<pid_t> pids;
  for (const std::string& list : given.all("pid")) {
    const std::vector<std::string> words = split_list(list);
    for (const std::string& word : words.empty() ? std::vector<std::string>{""} : words) {
      const auto pid = parse_pid(word);
      if (!pid) {
        return tl::unexpected(pid.error());
      }
      if (std::find(pids.begin(), pids.end(), *pid) == pids.end()) {
        pids.push_back(*pid);
      }
    }
  }
  return pids;
}

Result<Color> read_color(const Arguments& given) {
  if (const auto value = given.last("color")) {
    return check_choice("color", *value).map([&value] {
      return *value == "auto"     ? Color::automatic
             : *value == "always" ? Color::always
                                  : Color::never;
    });
  }
  const char* no_color = std::getenv("NO_COLOR");  // https://no-color.org
  return no_color != nullptr && *no_color != '\0' ? Color::never : Color::automatic;
}

Result<void> check_choice(std::string_view option, std::string_view value) {
  std::string known;
  std::string_view rest = option_row(option).choices;
  while (!rest.empty()) {
    const std::string_view choice = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), choice.size() + 1));
    if (choice == value) {
      return {};
    }
    known += fmt::format("{}{}", known.empty() ? "" : rest.empty() ? " or " : ", ", choice);
  }
  return fail(fmt::format("--{}: '{}' is not known; write {}", option, value, known));
}

namespace {

Parsed parse_words(std::vector<std::string> words, const std::vector<std::string>& notes) {
  const CommandRow* const row = words.empty() ? nullptr : find_command(words.front());
  if (row == nullptr) {
    return parse_record(words, notes);
  }
  words.erase(words.begin());
  switch (row->command) {
    case Command::doctor:
      return parse_command(words, row->command, read_doctor, doctor_help_text);
    case Command::annotate:
      return parse_command(words, row->command, read_annotate, annotate_help_text);
    case Command::convert:
      return parse_command(words, row->command, read_convert, convert_help_text);
    case Command::report:
      return parse_command(words, row->command, read_report, report_help_text);
    case Command::replay:
      return parse_command(words, row->command, read_replay, replay_help_text);
    case Command::diff:
      return parse_command(words, row->command, read_diff, diff_help_text);
    case Command::info:
      return parse_command(words, row->command, read_info, info_help_text);
    case Command::dump:
      return parse_command(words, row->command, read_dump, dump_help_text);
    case Command::top:
      return parse_command(words, row->command, read_top, top_help_text);
    case Command::count:
      return parse_command(words, row->command, read_count, count_help_text);
    case Command::coverage:
      return parse_command(words, row->command, read_coverage_command, coverage_help_text);
    case Command::xray:
      return parse_command(words, row->command, read_xray, xray_help_text);
    case Command::symbols:
      return parse_command(words, row->command, read_symbols, symbols_help_text);
    case Command::ctl:
      return parse_command(words, row->command, read_ctl, ctl_help_text);
    case Command::record:
      break;
  }
  return parse_record(words, notes);
}

}  // namespace

Parsed parse(int argc, const char* const* argv, const Settings& settings) {
  const auto set = with_settings({argv + (argc > 0 ? 1 : 0), argv + argc}, settings);
  if (!set) {
    return usage_error(set.error());
  }
  Parsed parsed = parse_words(set->words, set->notes);
  if (auto* const print = std::get_if<PrintAndExit>(&parsed);
      print != nullptr && print->status != 0 && !set->notes.empty()) {
    print->text += fmt::format(" ({})", fmt::join(set->notes, "; "));
  }
  return parsed;
}

}  // namespace sp::cli
