#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "cli/read.h"
#include "cli/values.h"

namespace sp::cli {
namespace {

using core::fail;
using core::Result;
using core::TraceTrigger;

constexpr double kMostCalls = 1e15;

struct NamedAction {
  std::string_view name;
  core::TraceAction action;
};
constexpr std::array<NamedAction, 4> kActions{{{"on", core::TraceAction::on},
                                               {"off", core::TraceAction::off},
                                               {"flush", core::TraceAction::flush},
                                               {"stop", core::TraceAction::stop}}};

std::string wrong(std::string_view text, std::string_view why) {
  return fmt::format(
      "--trigger: '{}': {}; write FUNC@on, off, flush or stop, and behind it what is to hold, as "
      "in 'handle*@flush,if=dur>50ms,after=10,depth=1'",
      text, why);
}

/// "dur>50ms", "arg2=0"
Result<TraceTrigger::Condition> read_condition(std::string_view trigger, std::string_view text) {
  using Compares = TraceTrigger::Compares;
  const std::size_t at = text.find_first_of("<=>");
  if (at == std::string_view::npos) {
    return fail(wrong(trigger, fmt::format("'if={}' compares nothing", text)));
  }
  TraceTrigger::Condition condition;
  condition.compares = text[at] == '<'   ? Compares::less
                       : text[at] == '=' ? Compares::equal
                                         : Compares::greater;
  const std::string_view what = text.substr(0, at);
  const std::string_view value = text.substr(at + 1);
  if (what == "dur" && condition.compares != Compares::equal) {
    const auto time = parse_duration("--trigger: if=dur", value, Unit::microseconds);
    if (!time) {
      return tl::unexpected(time.error());
    }
    condition.with = time->count();
    return condition;
  }
  const bool is_argument = what.size() == 4 && what.starts_with("arg") && what[3] >= '1' &&
                           what[3] <= '0' + TraceTrigger::kMostArguments;
  const auto [end, error] =
      std::from_chars(value.data(), value.data() + value.size(), condition.with);
  if (!is_argument || error != std::errc() || end != value.data() + value.size()) {
    return fail(wrong(trigger, fmt::format("'if={}' is neither dur> or dur< with a time nor arg1 "
                                           "to arg6 with <, = or > and a number",
                                           text)));
  }
  condition.argument = static_cast<std::uint8_t>(what[3] - '0');
  return condition;
}

Result<void> read_rule(std::string_view rule, TraceTrigger& trigger) {
  const std::size_t at = rule.find('=');
  const std::string_view name = rule.substr(0, at);
  const std::string_view value = at == std::string_view::npos ? "" : rule.substr(at + 1);
  if (name == "if") {
    auto condition = read_condition(trigger.text, value);
    if (!condition) {
      return tl::unexpected(condition.error());
    }
    trigger.condition = *condition;
    return {};
  }
  if (name != "after" && name != "depth") {
    return fail(wrong(trigger.text, fmt::format("'{}' is not if=, after= or depth=", rule)));
  }
  const double most = name == "depth" ? 1e9 : kMostCalls;
  const auto number = parse_number(fmt::format("--trigger: {}", name), value, 1, most);
  if (!number) {
    return tl::unexpected(number.error());
  }
  if (name == "after") {
    trigger.after = static_cast<std::uint64_t>(*number);
  } else {
    trigger.depth = static_cast<std::uint32_t>(*number);
  }
  return {};
}

Result<void> read_triggers(const Arguments& given, TraceControlOptions& control) {
  for (const std::string& text : given.all("trigger")) {
    auto trigger = read_trigger(text);
    if (!trigger) {
      return tl::unexpected(trigger.error());
    }
    control.triggers.push_back(*std::move(trigger));
  }
  if (control.triggers.size() > TraceTrigger::kMost) {
    return fail(
        fmt::format("--trigger: a run has at most {}, these are {}; name several functions "
                    "with one glob",
                    TraceTrigger::kMost, control.triggers.size()));
  }
  return {};
}

}  // namespace

Result<TraceTrigger> read_trigger(std::string_view text) {
  TraceTrigger trigger;
  trigger.text = text;
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos || at == 0) {
    return fail(wrong(text, "there is no function in front of an @"));
  }
  trigger.function = text.substr(0, at);
  std::string_view rest = text.substr(at + 1);
  const auto next = [&rest] {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    return word;
  };
  const std::string_view action = next();
  const auto known = std::find_if(kActions.begin(), kActions.end(),
                                  [action](const auto& one) { return one.name == action; });
  if (known == kActions.end()) {
    return fail(wrong(text, fmt::format("'{}' is not on, off, flush or stop", action)));
  }
  trigger.action = known->action;
  while (!rest.empty()) {
    if (auto read = read_rule(next(), trigger); !read) {
      return tl::unexpected(read.error());
    }
  }
  if (auto checked = check_function_pattern(trigger.function, "--trigger"); !checked) {
    return tl::unexpected(checked.error());
  }
  return trigger;
}

Result<void> read_trace_control(const Arguments& given, RecordOptions& options) {
  TraceControlOptions& control = options.control;
  control.begins_off = given.has("start-off");
  if (auto read = read_triggers(given, control); !read) {
    return read;
  }
  if (const auto path = given.last("control")) {
    if (path->empty()) {
      return fail("--control: the path of the socket is empty; give one");
    }
    if (path->size() > kLongestSocketPath) {
      return fail(fmt::format("--control: the path of a socket has at most {} bytes, this one {}",
                              kLongestSocketPath, path->size()));
    }
    control.path = *path;
  }
  if (const auto value = given.last("dormant-after")) {
    constexpr double kMost = 1e6;
    const auto percent = parse_number("--dormant-after", *value, 1, kMost);
    if (!percent) {
      return tl::unexpected(percent.error());
    }
    control.dormant_after_percent = *percent;
  }
  const bool can_be_on =
      !control.path.empty() || std::any_of(control.triggers.begin(), control.triggers.end(),
                                           [](const TraceTrigger& trigger) {
                                             return trigger.action == core::TraceAction::on;
                                           });
  if (control.begins_off && !can_be_on) {
    return fail(
        "--start-off: nothing would ever switch the trace on; add --control PATH, for "
        "superprofiler ctl PATH on, or a --trigger 'FUNC@on'");
  }
  return {};
}

Result<CtlOptions> read_ctl(const Arguments& given) {
  std::vector<std::string> words = given.words();
  if (const auto& after = given.after_dashes()) {
    words.insert(words.end(), after->begin(), after->end());
  }
  if (words.size() < 2 || words[0].empty()) {
    return fail(
        "ctl takes the socket of a run with --control and a command: superprofiler ctl PATH "
        "status");
  }
  if (words[0].size() > kLongestSocketPath) {
    return fail(fmt::format("ctl: the path of a socket has at most {} bytes, this one {}",
                            kLongestSocketPath, words[0].size()));
  }
  CtlOptions ctl{words[0], {}};
  for (std::size_t i = 1; i < words.size(); ++i) {
    ctl.command += (i > 1 ? " " : "") + words[i];
  }
  if (ctl.command.find('\n') != std::string::npos) {
    return fail("ctl: a command is one line; send each with a ctl of its own");
  }
  return ctl;
}

}  // namespace sp::cli
