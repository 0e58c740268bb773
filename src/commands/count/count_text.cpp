#include "commands/count/count_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "profiler/describe.h"
#include "profiler/text.h"
#include "symbols/demangle.h"

namespace sp::count {
namespace {

using core::ValueHistogram;
using profiler::grouped;

constexpr std::size_t kBarColumns = 40;

double rate(std::uint64_t calls, core::Duration interval) {
  return static_cast<double>(calls) / std::max(core::seconds(interval), 1e-6);
}

/// A measured value, as its type is shown.
std::string measured_text(const core::CallQuery& query, std::uint64_t value) {
  if (query.has_durations) {
    return profiler::duration_text(core::Duration{static_cast<core::Duration::rep>(value)});
  }
  switch (query.measured ? query.measured->type : core::ValueType::unsigned_number) {
    case core::ValueType::signed_number:
      return fmt::format("{}", static_cast<std::int64_t>(value));
    case core::ValueType::hexadecimal:
    case core::ValueType::pointer:
      return fmt::format("{:#x}", value);
    default:
      return fmt::format("{}", value);
  }
}

std::string group_name(const GroupRow& group, const core::CallQuery& query) {
  std::string name;
  for (std::size_t i = 0; i < query.values.size() && i < group.values.size(); ++i) {
    name += fmt::format("{}{}={}", name.empty() ? "" : "  ", value_name(query.values[i]),
                        group.values[i]);
  }
  if (query.by_caller) {
    name += fmt::format("{}from {}", name.empty() ? "" : "  ", group.caller);
  }
  if (query.by_thread) {
    name += fmt::format("{}in {}", name.empty() ? "" : "  ", group.thread);
  }
  return name;
}

/// One row for each power of two: its buckets are an eighth of that.
struct Bar {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  std::uint64_t count = 0;
};

std::vector<Bar> bars_of(const ValueHistogram& histogram) {
  std::vector<Bar> bars;
  int last = -1000;
  histogram.for_each([&](const ValueHistogram::Bucket& bucket) {
    const bool is_negative = histogram.is_signed() && static_cast<std::int64_t>(bucket.least) < 0;
    const std::uint64_t size = is_negative ? -bucket.most : bucket.least;
    const int power = is_negative ? -static_cast<int>(std::bit_width(size)) - 1
                                  : static_cast<int>(std::bit_width(size));
    if (power != last) {
      bars.push_back({bucket.least, bucket.most, 0});
    }
    last = power;
    bars.back().most = bucket.most;
    bars.back().count += bucket.count;
  });
  return bars;
}

void append_histogram(std::string& text, const ValueHistogram& histogram,
                      const core::CallQuery& query) {
  if (histogram.count() == 0) {
    return;
  }
  const auto shown = [&](std::uint64_t value) { return measured_text(query, value); };
  text += fmt::format("      {}: p50 {}  p90 {}  p99 {}  max {}\n",
                      query.has_durations ? "duration"
                      : query.measured    ? value_name(*query.measured)
                                          : "",
                      shown(histogram.percentile(50)), shown(histogram.percentile(90)),
                      shown(histogram.percentile(99)), shown(histogram.most()));
  const std::vector<Bar> bars = bars_of(histogram);
  const auto longest = std::max_element(bars.begin(), bars.end(), [](const Bar& a, const Bar& b) {
                         return a.count < b.count;
                       })->count;
  for (const Bar& bar : bars) {
    const auto columns = static_cast<std::size_t>(
        std::ceil(static_cast<double>(bar.count) * kBarColumns / static_cast<double>(longest)));
    text +=
        fmt::format("      {:>10} .. {:<10} {:>12} |{:<{}}|\n", shown(bar.least), shown(bar.most),
                    grouped(bar.count), std::string(columns, '#'), kBarColumns);
  }
}

void append_notes(std::string& text, const FunctionRow& row, const TableStyle& style,
                  std::uint64_t hidden) {
  std::uint64_t ended = 0;
  std::uint64_t tail_calls = 0;
  for (const GroupRow& group : row.groups) {
    ended += group.calls;
    tail_calls += group.tail_calls;
  }
  if (hidden > 0) {
    text += fmt::format("    {} more rows: --limit 0 shows all\n", grouped(hidden));
  }
  if (tail_calls > 0) {
    text += fmt::format(
        "    {} ended by a jump to another function: until then, and what that returned is not "
        "known\n",
        grouped(tail_calls));
  }
  if (style.query.needs_returns() && style.query.conditions.empty() && ended < row.all_calls) {
    text += fmt::format("    {} did not return\n", grouped(row.all_calls - ended));
  }
}

std::string cut(const std::string& line, const TableStyle& style) {
  return (style.columns > 0 ? profiler::elided(line, style.columns) : line) + '\n';
}

void append_function(std::string& text, const FunctionRow& row, const Table& table,
                     const TableStyle& style) {
  const std::string kind =
      row.is_known ? profiler::kind_text(row.span, style.started) : std::string("at-most");
  text +=
      cut(fmt::format(
              "{:>14}  {:>12}  {:<20}  {}  {}", grouped(row.calls),
              grouped(static_cast<std::uint64_t>(std::llround(rate(row.calls, table.interval)))),
              kind, profiler::folded_name(row.function),
              profiler::folded_name(profiler::base_name(row.module))),
          style);
  if (!style.query.conditions.empty()) {
    text += fmt::format("    of {} calls\n", grouped(row.all_calls));
  }
  std::uint64_t shown = 0;
  for (const GroupRow& group : row.groups) {
    if (style.limit != 0 && shown >= style.limit) {
      break;
    }
    ++shown;
    const std::string name = group_name(group, style.query);
    if (!name.empty()) {
      text += cut(fmt::format("  {:>12}  {:5.1f} %  {}", grouped(group.calls),
                              100 * static_cast<double>(group.calls) /
                                  static_cast<double>(std::max<std::uint64_t>(row.calls, 1)),
                              name),
                  style);
    }
    append_histogram(text, group.measured, style.query);
  }
  append_notes(text, row, style, row.groups.size() - shown);
}

}  // namespace

std::string value_name(const core::CallValue& value) {
  if (!value.name.empty()) {
    return value.name;
  }
  return value.is_result() ? "ret" : fmt::format("arg{}", value.argument);
}

std::string table_text(const Table& table, const TableStyle& style) {
  std::string text = cut("         calls       calls/s  kind                  function", style);
  for (const FunctionRow& row : table.rows) {
    append_function(text, row, table, style);
  }
  if (table.ungrouped > 0) {
    text += fmt::format("{} calls are in no row: there were too many different ones\n",
                        grouped(table.ungrouped));
  }
  return text;
}

std::string inlined_note(const symbols::InlinedCopies& found, const std::string& path) {
  constexpr std::size_t kShown = 3;
  std::vector<std::pair<std::uint64_t, std::string>> most;
  for (const auto& [name, copies] : found.copies) {
    most.emplace_back(copies, name);
  }
  if (most.empty()) {
    return "";
  }
  std::stable_sort(most.begin(), most.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string names;
  for (std::size_t i = 0; i < std::min(kShown, most.size()); ++i) {
    names += fmt::format("{}{} in {} {}", i == 0 ? "" : ", ",
                         profiler::folded_name(symbols::demangle(most[i].second)),
                         grouped(most[i].first), most[i].first == 1 ? "place" : "places");
  }
  return fmt::format("in {} {}{} {} inlined: {}{}: calls there are not counted",
                     profiler::base_name(path), found.is_complete ? "" : "at least ",
                     grouped(most.size()), most.size() == 1 ? "function is" : "functions are",
                     names, most.size() > kShown ? ", .." : "");
}

}  // namespace sp::count
