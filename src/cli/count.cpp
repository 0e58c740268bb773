#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "cli/call_query.h"
#include "cli/read.h"
#include "cli/values.h"

namespace sp::cli {

using core::CallValue;
using core::fail;
using core::Result;
using core::ValueType;

namespace {

using Nothing = Result<void>;

bool is_expression(std::string_view text) {
  return text.size() >= 2 && text.starts_with('/') && text.ends_with('/');
}

/// Where MODULE ends in "MODULE:FUNC"; npos: there is none.
std::size_t end_of_module(std::string_view text) {
  std::size_t at = text.find(':');
  while (at != std::string_view::npos && text.substr(at).starts_with("::")) {
    at = text.find(':', at + 2);
  }
  if (at == std::string_view::npos || at == 0) {
    return std::string_view::npos;
  }
  const std::string_view module = text.substr(0, at);
  const bool is_name =
      module == "*" || module.find_first_of("()[]{}|^$*?<> ,") == std::string_view::npos;
  const bool is_within_expression = is_expression(text) && !is_expression(text.substr(at + 1));
  return is_name && !is_within_expression ? at : std::string_view::npos;
}

Nothing read_values(const Arguments& given, CountOptions& options) {
  std::vector<CallValue>& values = options.query.values;
  const auto text_of_args = given.last("args");
  options.all_parameters = text_of_args == "all";
  if (const auto& text = text_of_args; text && !options.all_parameters) {
    auto read = read_call_values(*text);
    if (!read) {
      return tl::unexpected(read.error());
    }
    values = *std::move(read);
  }
  if (const auto text = given.last("ret")) {
    const auto type = read_value_type("--ret", *text);
    if (!type) {
      return tl::unexpected(type.error());
    }
    values.push_back({0, *type});
  }
  if (const auto text = given.last("if")) {
    auto read = read_call_conditions(*text);
    if (!read) {
      return tl::unexpected(read.error());
    }
    options.query.conditions = *std::move(read);
    options.condition = *text;
  }
  return {};
}

/// Whether the values are to tell groups apart, though there is a histogram.
Result<bool> read_by(const Arguments& given, CountOptions& options) {
  bool by_values = false;
  for (const std::string& list : given.all("by")) {
    for (const std::string& word : split_list(list)) {
      if (const auto known = check_choice("by", word); !known) {
        return tl::unexpected(known.error());
      }
      by_values = by_values || word == "args";
      options.query.by_caller = options.query.by_caller || word == "caller";
      options.query.by_thread = options.query.by_thread || word == "thread";
    }
  }
  if (by_values && options.query.values.empty() && !options.all_parameters) {
    return fail("--by args needs --args, such as --args arg1:s");
  }
  return by_values;
}

Nothing read_histogram(const Arguments& given, bool by_values, CountOptions& options) {
  core::CallQuery& query = options.query;
  if (!given.has("hist")) {
    return {};
  }
  if (options.all_parameters && !by_values) {
    return fail(
        "--hist: of one value; name one with --args, or write --by args for how long calls "
        "take");
  }
  if (query.values.empty() || by_values) {
    query.has_durations = true;
    return {};
  }
  if (!given.has("ret") && query.values.size() > 1) {
    return fail(
        "--hist: of one value; name one with --args, or write --by args for how long calls take");
  }
  const CallValue measured = query.values.back();
  if (measured.type == ValueType::floating || measured.type == ValueType::text) {
    return fail("--hist: only of numbers; write the type d, u or x");
  }
  query.values.pop_back();
  query.measured = measured;
  if (!measured.is_result() && query.needs_returns()) {
    return fail("--hist of an argument does not go with a condition on ret");
  }
  return {};
}

Nothing read_shown(const Arguments& given, CountOptions& options) {
  constexpr Duration kShortest = std::chrono::milliseconds(50);
  constexpr double kMostRows = 1e6;
  if (const auto value = given.last("interval")) {
    const auto time = parse_duration("-i", *value, Unit::seconds);
    if (!time) {
      return tl::unexpected(time.error());
    }
    if (*time < kShortest) {
      return fail("-i: the shortest time between two tables is 50ms");
    }
    options.interval = *time;
  }
  if (const auto value = given.last("limit")) {
    const auto rows = parse_number("--limit", *value, 0, kMostRows);
    if (!rows) {
      return tl::unexpected(rows.error());
    }
    options.limit = static_cast<std::uint64_t>(*rows);
  }
  options.json = given.has("json");
  if (const auto file = given.last("output")) {
    if (file->empty()) {
      return fail("-o: the file's name is empty");
    }
    options.output = *file;
  }
  return {};
}

}  // namespace

CountPattern split_pattern(std::string_view text) {
  const std::size_t end = end_of_module(text);
  if (end == std::string_view::npos) {
    return {"", std::string(text)};
  }
  return {std::string(text.substr(0, end)), std::string(text.substr(end + 1))};
}

Result<CountOptions> read_count(const Arguments& given) {
  CountOptions options;
  if (given.words().empty()) {
    return fail(
        "count takes the functions to count: superprofiler count 'c:malloc' -- CMD, or with "
        "-p PID");
  }
  for (const std::string& word : given.words()) {
    CountPattern pattern = split_pattern(word);
    if (pattern.function.empty()) {
      return fail(fmt::format("'{}' names no function; write {}:'*' for all of them", word,
                              pattern.module.empty() ? "MODULE" : pattern.module));
    }
    if (const auto known = check_function_pattern(pattern.function); !known) {
      return tl::unexpected(known.error());
    }
    options.patterns.push_back(std::move(pattern));
  }
  auto run = read_live(given);
  if (!run) {
    return tl::unexpected(run.error());
  }
  options.run = std::move(*run);
  if (const auto read = read_values(given, options); !read) {
    return tl::unexpected(read.error());
  }
  const auto by_values = read_by(given, options);
  if (!by_values) {
    return tl::unexpected(by_values.error());
  }
  if (const auto read = read_histogram(given, *by_values, options); !read) {
    return tl::unexpected(read.error());
  }
  if (const auto read = read_shown(given, options); !read) {
    return tl::unexpected(read.error());
  }
  options.run.calls = options.query;
  // Samples show nothing here; a stop now and then keeps the breakpoints in order.
  options.run.interval = std::chrono::milliseconds(10);
  options.run.trace_probability = 0;
  return options;
}

}  // namespace sp::cli
