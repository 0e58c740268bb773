#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "cli/read.h"
#include "cli/values.h"
#include "core/edit_distance.h"

namespace sp::cli {
namespace {

using core::fail;
using core::Result;
using Metric = DiffRule::Metric;

constexpr std::uint64_t kMostRows = 1'000'000'000;

constexpr auto kMetrics = std::to_array<std::pair<std::string_view, Metric>>({
    {"self", Metric::self},
    {"total", Metric::total},
    {"calls", Metric::calls},
    {"executions", Metric::executions},
    {"instructions", Metric::instructions},
});

core::Error not_a_rule(std::string_view text, std::string_view why) {
  return {fmt::format(
      "--fail-on: '{}' is not a rule: {}; write [F:]METRIC>N, such as 'total>5%', 'F:calls>0'",
      text, why)};
}

Result<Metric> metric_named(std::string_view rule, std::string_view name) {
  const auto distance = [&](const auto& known) { return core::edit_distance(name, known.first); };
  const auto* nearest =
      std::min_element(kMetrics.begin(), kMetrics.end(),
                       [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  if (nearest->first == name) {
    return nearest->second;
  }
  return tl::unexpected(not_a_rule(
      rule, name.empty()
                ? std::string("it has no metric")
                : fmt::format("there is no metric '{}', the nearest is {}", name, nearest->first)));
}

bool is_time(Metric metric) { return metric == Metric::self || metric == Metric::total; }

/// "5%", "-3", "10ms" into `rule`. False if it is none of them.
bool read_limit(std::string_view text, DiffRule& rule) {
  const bool negative = text.starts_with('-');
  text.remove_prefix(negative || text.starts_with('+') ? 1 : 0);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !std::isfinite(value) || text.starts_with('-')) {
    return false;
  }
  const std::string_view unit(end, text.data() + text.size());
  if (unit == "%") {
    rule.unit = DiffRule::Unit::percent;
  } else if (!unit.empty()) {
    const auto time = parse_duration("--fail-on", text, Unit::seconds);
    if (!time || !is_time(rule.metric)) {
      return false;
    }
    rule.unit = DiffRule::Unit::nanoseconds;
    value = static_cast<double>(time->count());
  }
  rule.limit = negative ? -value : value;
  return true;
}

}  // namespace

Result<DiffRule> read_rule(std::string_view text) {
  // From behind: a function's name may contain colons and angle brackets.
  const std::size_t sign = text.find_last_of("<>");
  if (sign == std::string_view::npos) {
    return tl::unexpected(not_a_rule(text, "it has neither > nor <"));
  }
  DiffRule rule;
  rule.text = text;
  rule.more = text[sign] == '>';
  std::string_view metric = text.substr(0, sign);
  if (const std::size_t colon = metric.rfind(':'); colon != std::string_view::npos) {
    rule.function = metric.substr(0, colon);
    metric.remove_prefix(colon + 1);
    if (rule.function.empty()) {
      return tl::unexpected(not_a_rule(text, "the name of the function is empty"));
    }
  }
  const auto known = metric_named(text, metric);
  if (!known) {
    return tl::unexpected(known.error());
  }
  rule.metric = *known;
  if (rule.function.empty() && rule.metric == Metric::self) {
    return tl::unexpected(not_a_rule(text, "self is of a function"));
  }
  if (!read_limit(text.substr(sign + 1), rule)) {
    return tl::unexpected(not_a_rule(
        text, is_time(rule.metric) ? "the limit is not a number, a number with %, or a time"
                                   : "the limit is not a number, or a number with %"));
  }
  if (is_time(rule.metric) && rule.unit == DiffRule::Unit::one && rule.limit != 0) {
    return tl::unexpected(not_a_rule(text, "a time has a unit (10ms), or the limit is in %"));
  }
  return rule;
}

Result<DiffOptions> read_diff(const Arguments& given) {
  std::vector<std::string> runs = given.words();
  if (const auto& after = given.after_dashes()) {
    runs.insert(runs.end(), after->begin(), after->end());
  }
  if (runs.size() != 2) {
    return fail(fmt::format(
        "diff takes two runs, {} given: superprofiler diff output/A output/B, or several of each: "
        "A1,A2,A3 B1,B2,B3",
        runs.size() == 1 ? "1 is" : fmt::format("{} are", runs.size())));
  }
  if (runs[0].empty() || runs[1].empty()) {
    return fail("diff: the name of a run is empty; give the directory of one: output/NAME");
  }
  DiffOptions options;
  options.before = runs[0];
  options.after = runs[1];
  for (const std::string& text : given.all("fail-on")) {
    auto rule = read_rule(text);
    if (!rule) {
      return tl::unexpected(rule.error());
    }
    options.rules.push_back(std::move(*rule));
  }
  if (const auto limit = given.last("limit")) {
    const auto number = parse_number("limit", *limit, 0, kMostRows);
    if (!number) {
      return tl::unexpected(number.error());
    }
    options.limit = static_cast<std::uint64_t>(*number);
  }
  options.flame = given.has("flame");
  options.output = given.last("output").value_or("");
  options.json = given.has("json");
  if (given.has("output") && (options.output.empty() || !options.flame)) {
    return fail(options.flame ? "diff: the name of the file is empty; leave it out or give one"
                              : "diff: -o names the flame graph; write --flame -o FILE");
  }
  if (options.json && options.output == "-") {
    return fail("diff: --json and -o - both write to stdout; write the flame graph to a file");
  }
  return options;
}

}  // namespace sp::cli
