#include "commands/diff/diff_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "profiler/describe.h"
#include "profiler/formats/json_writer.h"
#include "profiler/text.h"

namespace sp::diff {
namespace {

using profiler::folded_blanks;
using profiler::grouped;
using profiler::JsonWriter;
using profiler::utf8_text;
using Runs = std::vector<RunNumbers>;
using State = Pair::State;

constexpr std::size_t kLongestName = 60;
constexpr std::size_t kLongestCommand = 70;

std::string delta_text(const Pair& pair) {
  const std::uint64_t most = std::max(pair.before, pair.after);
  const std::uint64_t least = std::min(pair.before, pair.after);
  return (pair.after < pair.before ? "-" : "+") + value_text(pair, most - least);
}

std::string kind_text(const Pair& pair) { return pair.varies ? pair.kind + ", varies" : pair.kind; }

void write_side(std::ostream& out, std::string_view side, const Runs& runs) {
  for (const RunNumbers& numbers : runs) {
    const profiler::RecordedRun& run = numbers.run;
    out << fmt::format(
        "{} {}: {}; {}; {}\n", side, folded_blanks(utf8_text(numbers.directory)),
        profiler::elided(folded_blanks(utf8_text(run.command)), kLongestCommand), run.sampling(),
        run.counts_kind.empty() ? "nothing was counted" : "counted: " + run.counts_kind);
  }
}

void write_row(std::ostream& out, std::string_view metric, const Pair& pair, std::string_view name,
               std::string_view module) {
  std::string line =
      fmt::format("{:>17} {:>17} {:>17} {:>9}  {:12}  {:18}  {}", value_text(pair, pair.before),
                  value_text(pair, pair.after), delta_text(pair), change_text(pair), metric,
                  kind_text(pair), name);
  if (!module.empty()) {
    const std::size_t used = profiler::count_code_points(name);
    line += std::string(kLongestName - std::min(used, kLongestName) + 2, ' ');
    line += module;
  }
  out << line << '\n';
}

void write_number(JsonWriter& json, const Pair& pair) {
  json.key("metric").string(name_of(pair.metric));
  json.key("unit").string(is_time(pair.metric) ? "ns" : "count");
  json.key("kind").string(pair.kind);
  json.key("varies").boolean(pair.varies);
  json.key("before").number(pair.before);
  json.key("after").number(pair.after);
  json.key("delta").number(static_cast<std::int64_t>(pair.after - pair.before));
  json.key("percent");
  std::isfinite(pair.percent()) ? json.real(pair.percent()) : json.null();
  json.key("changed").boolean(pair.changed);
}

void write_runs(JsonWriter& json, const Runs& runs) {
  json.begin_array();
  for (const RunNumbers& numbers : runs) {
    json.begin_object();
    json.key("run").string(numbers.directory);
    json.key("command").string(numbers.run.command);
    json.key("sampled").string(numbers.run.sampling());
    json.key("counts_kind");
    numbers.run.counts_kind.empty() ? json.null() : json.string(numbers.run.counts_kind);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string value_text(const Pair& pair, std::uint64_t value) {
  return is_time(pair.metric)
             ? profiler::duration_text(core::Duration(static_cast<core::Duration::rep>(value)))
             : grouped(value);
}

std::string change_text(const Pair& pair) {
  if (pair.before == 0 || pair.after == 0) {
    return pair.before == pair.after ? "+0.0 %" : pair.before == 0 ? "new" : "gone";
  }
  return fmt::format("{:+.1f} %", pair.percent());
}

std::string shown_name(std::string_view name) {
  return profiler::elided(folded_blanks(utf8_text(name)), kLongestName);
}

void write_text(std::ostream& out, const Shown& shown) {
  write_side(out, "A", shown.before);
  write_side(out, "B", shown.after);
  out << fmt::format("{:>17} {:>17} {:>17} {:>9}  {:12}  {:18}  {:{}}module\n", "before", "after",
                     "delta", "%", "metric", "kind", "function", kLongestName + 2);
  for (const Pair& pair : shown.comparison.whole) {
    if (pair.state == State::compared) {
      write_row(out, pair.metric == Metric::total ? "time" : name_of(pair.metric), pair,
                pair.changed ? "(the whole run)" : "(the whole run: not changed)", "");
    }
  }
  std::uint64_t functions = 0;
  for (const ComparedFunction& function : shown.comparison.functions) {
    functions += function.changed() ? 1 : 0;
    if (!function.changed() || (shown.limit != 0 && functions > shown.limit)) {
      continue;
    }
    for (const Pair& pair : function.pairs) {
      if (pair.changed) {
        write_row(out, name_of(pair.metric), pair, shown_name(function.key.name),
                  folded_blanks(utf8_text(function.key.module)));
      }
    }
  }
  if (functions == 0) {
    out << "no function differs\n";
  } else if (shown.limit != 0 && functions > shown.limit) {
    out << fmt::format("{} more functions differ: --limit 0 shows them\n",
                       grouped(functions - shown.limit));
  }
}

void write_json(std::ostream& out, const Shown& shown, const std::vector<std::string>& broken) {
  JsonWriter json(out);
  json.begin_object();
  json.key("before");
  write_runs(json, shown.before);
  json.key("after");
  write_runs(json, shown.after);
  json.key("same_runs").boolean(shown.comparison.same_runs);
  json.key("incomparable_functions").number(shown.comparison.incomparable);
  json.key("whole").begin_array();
  for (const Pair& pair : shown.comparison.whole) {
    if (pair.state == State::compared) {
      json.begin_object();
      write_number(json, pair);
      json.end_object();
    }
  }
  json.end_array();
  json.key("rows").begin_array();
  std::uint64_t functions = 0;
  for (const ComparedFunction& function : shown.comparison.functions) {
    functions += function.changed() ? 1 : 0;
    for (const Pair& pair : function.pairs) {
      if (pair.changed && (shown.limit == 0 || functions <= shown.limit)) {
        json.begin_object();
        json.key("function").string(function.key.name);
        json.key("module").string(function.key.module);
        write_number(json, pair);
        json.end_object();
      }
    }
  }
  json.end_array();
  json.key("left_out")
      .number(shown.limit == 0 || functions <= shown.limit ? 0 : functions - shown.limit);
  json.key("broken").begin_array();
  for (const std::string& line : broken) {
    json.string(line);
  }
  json.end_array();
  json.end_object();
}

}  // namespace sp::diff
