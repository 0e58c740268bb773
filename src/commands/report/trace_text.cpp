#include "commands/report/trace_text.h"

#include <fmt/format.h>

#include <ostream>

#include "profiler/formats/json_writer.h"
#include "profiler/text.h"

namespace sp::report {
namespace {

using profiler::TraceClosing;

constexpr std::size_t kLongestFunction = 60;
constexpr std::size_t kLongestRun = 100;
constexpr TraceClosing kClosings[] = {TraceClosing::returned, TraceClosing::unwound,
                                      TraceClosing::tail,     TraceClosing::entered_before,
                                      TraceClosing::at_end,   TraceClosing::across_loss};

std::uint64_t closed(const TraceRow& row, TraceClosing closing) {
  return row.closings[static_cast<std::size_t>(closing)];
}

/// "unwound 3, at-end 1"
std::string other_closings(const TraceRow& row) {
  std::string text;
  for (const TraceClosing closing : kClosings) {
    if (closing != TraceClosing::returned && closed(row, closing) > 0) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", word(closing),
                          profiler::grouped(closed(row, closing)));
    }
  }
  return text;
}

std::string one_line(std::string_view text, std::size_t most) {
  return profiler::elided(profiler::folded_blanks(profiler::utf8_text(text)), most);
}

std::uint64_t average_of(const TraceRow& row) {
  return row.durations.count() == 0 ? 0 : row.durations_ns / row.durations.count();
}

void write_number(profiler::JsonWriter& json, std::string_view key, bool is_known,
                  std::uint64_t number) {
  json.key(key);
  is_known ? json.number(number) : json.null();
}

void write_trace_row(profiler::JsonWriter& json, const TraceRow& row) {
  const bool has_durations = row.durations.count() > 0;
  json.begin_object();
  json.key("name").string(row.name);
  json.key("module").string(row.module);
  json.key("source").string(row.source);
  json.key("calls").number(row.calls);
  json.key("kind").string(row.kind);
  json.key("total_ns").number(row.total_ns);
  json.key("self_ns").number(row.self_ns);
  write_number(json, "min_ns", has_durations, row.durations.least());
  write_number(json, "average_ns", has_durations, average_of(row));
  write_number(json, "p50_ns", has_durations, row.durations.percentile(50));
  write_number(json, "p99_ns", has_durations, row.durations.percentile(99));
  write_number(json, "max_ns", has_durations, row.durations.most());
  json.key("closings").begin_object();
  for (const TraceClosing closing : kClosings) {
    json.key(word(closing)).number(closed(row, closing));
  }
  json.end_object();
  json.end_object();
}

std::string_view times_of(const TraceTitle& title) {
  return title.raw_times     ? "times include superprofiler's stops"
         : title.has_threads ? "times without a thread's own stops, but with waiting for others'"
                             : "times without superprofiler's stops";
}

}  // namespace

std::string duration_text(std::uint64_t ns) {
  constexpr double kThousand = 1000;
  if (ns < 1000) {
    return fmt::format("{} ns", ns);
  }
  double value = static_cast<double>(ns) / kThousand;
  for (const std::string_view unit : {"us", "ms"}) {
    if (value < kThousand) {
      return fmt::format("{:.3f} {}", value, unit);
    }
    value /= kThousand;
  }
  return fmt::format("{:.3f} s", value);
}

void write_trace_text(std::ostream& out, const TraceTitle& title, const TraceTable& table) {
  out << fmt::format("{}: traced, {} calls; {}; p50 and p99 are at most 6.25 % too high\n",
                     one_line(title.run, kLongestRun), profiler::grouped(table.calls),
                     times_of(title));
  const auto line = [&out](std::string text) {
    text.erase(text.find_last_not_of(' ') + 1);
    out << text << '\n';
  };
  constexpr const char* kColumns =
      "{:>14} {:17} {:>11} {:>11} {:>11} {:>11} {:>11} {:>11} {:>11}  ";
  line(fmt::format(fmt::runtime(kColumns), "calls", "kind", "total", "self", "min", "average",
                   "p50", "p99", "max") +
       fmt::format("{:{}}{:20} closings other than returned", title.rows, kLongestFunction + 2,
                   title.rows == "threads" ? "process" : "module"));
  for (const TraceRow& row : table.rows) {
    const auto known = [&](std::uint64_t ns) {
      return row.durations.count() > 0 ? duration_text(ns) : "-";
    };
    const std::string name = one_line(row.name, kLongestFunction);
    const std::size_t padding = kLongestFunction + 2 - profiler::count_code_points(name);
    line(fmt::format(fmt::runtime(kColumns), profiler::grouped(row.calls), row.kind,
                     duration_text(row.total_ns), duration_text(row.self_ns),
                     known(row.durations.least()), known(average_of(row)),
                     known(row.durations.percentile(50)), known(row.durations.percentile(99)),
                     known(row.durations.most())) +
         fmt::format("{}{}{:20} {}", name, std::string(padding, ' '),
                     profiler::base_name(row.module), other_closings(row)));
  }
  if (table.left_out > 0) {
    out << fmt::format("{} more below the limit: --percent-limit 0 shows them\n",
                       profiler::grouped(table.left_out));
  }
}

void write_trace_json(std::ostream& out, const TraceTitle& title, const TraceTable& table) {
  profiler::JsonWriter json(out);
  json.begin_object();
  json.key("command").string(title.run);
  json.key("raw_times").boolean(title.raw_times);
  json.key("calls").number(table.calls);
  json.key("total_ns").number(table.total_ns);
  json.key("lost_events").number(title.lost_events);
  json.key("rows_of").string(title.rows);
  json.key("left_out").number(table.left_out);
  json.key("rows").begin_array();
  for (const TraceRow& row : table.rows) {
    write_trace_row(json, row);
  }
  json.end_array();
  json.end_object();
}

}  // namespace sp::report
