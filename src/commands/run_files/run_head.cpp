#include "commands/run_files/run_head.h"

#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "commands/run_files/recorded_run.h"
#include "commands/run_files/recording_file.h"
#include "profiler/describe.h"
#include "profiler/text.h"

namespace sp::run_files {
namespace {

using nlohmann::json;

/// Values of another type, and of missing keys, are null: run.json may be of another version.
const json& member(const json& object, std::string_view key) {
  static const json kNull;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? *found : kNull;
}

std::string text_in(const json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::string count_in(const json& value) {
  return value.is_number_unsigned() ? profiler::grouped(value.get<std::uint64_t>()) : "unknown";
}

std::string duration_in(const json& microseconds) {
  return microseconds.is_number()
             ? profiler::duration_text(
                   core::Duration(static_cast<std::int64_t>(microseconds.get<double>() * 1000)))
             : "unknown";
}

std::string words_in(const json& list) {
  std::vector<std::string> all;
  for (const json& word : list) {
    all.push_back(text_in(word));
  }
  return profiler::command_text(all);
}

class HeadReader {
 public:
  explicit HeadReader(const json& run) : run_(run) {}

  RunHead read() {
    add_run();
    add_end();
    add_samples();
    add_counts();
    add_losses();
    add_cost();
    for (const json& note : member(run_, "notes")) {
      if (!text_in(note).empty()) {
        head_.notes.push_back(text_in(note));
      }
    }
    return std::move(head_);
  }

 private:
  void add(std::string label, std::string value, std::string kind = "") {
    head_.facts.push_back({std::move(label), std::move(value), std::move(kind)});
  }

  void add_run() {
    add("Command", words_in(member(run_, "command")));
    add("Options", words_in(member(run_, "options")));
    const json& pid = member(run_, "pid");
    add("Process", fmt::format("{}, {}; processes: {}, threads: {}",
                               pid.is_number_integer() ? pid.get<std::int64_t>() : 0,
                               member(run_, "launched") == true ? "launched" : "attached to",
                               count_in(member(run_, "process_count")),
                               count_in(member(run_, "thread_count"))));
    add("Host", fmt::format("{}; superprofiler {}", text_in(member(run_, "host_arch")),
                            text_in(member(run_, "superprofiler_version"))));
  }

  void add_end() {
    const json& elapsed = member(run_, "elapsed_seconds");
    add("Time",
        fmt::format("{:.3f} s, from {} to {}", elapsed.is_number() ? elapsed.get<double>() : 0.0,
                    text_in(member(run_, "started_at")), text_in(member(run_, "ended_at"))));
    std::string end = text_in(member(run_, "end"));
    if (const json& status = member(run_, "exit_status"); status.is_number_integer()) {
      end += fmt::format(", status {}", status.get<int>());
    }
    if (const json& signal = member(run_, "exit_signal"); signal.is_number_integer()) {
      end += fmt::format(", signal {}", signal.get<int>());
    }
    add("End", end);
  }

  void add_samples() {
    const json& samples = member(run_, "samples");
    add("Samples",
        fmt::format("{} ({} on-CPU, {} blocked; clock: {})", count_in(member(samples, "total")),
                    count_in(member(samples, "on_cpu")), count_in(member(samples, "blocked")),
                    text_in(member(samples, "clock"))),
        "sampled");
    add("Stacks",
        fmt::format("{} samples have one, {} have only the function; of these stacks {} lack the "
                    "outer end, {} the inner one",
                    count_in(member(samples, "with_stack")), count_in(member(samples, "pc_only")),
                    count_in(member(samples, "truncated")), count_in(member(samples, "collapsed"))),
        "exact");
    add("Interval",
        fmt::format("{} on average, {} requested",
                    duration_in(member(member(run_, "cost"), "mean_interval_us")),
                    duration_in(member(member(run_, "cost"), "requested_interval_us"))),
        "measured");
  }

  void add_counts() {
    const json& counts = member(run_, "counts");
    if (counts.is_null()) {
      add("Counts", "nothing was counted");
      return;
    }
    add("Counts",
        fmt::format("{} executions of {} blocks, {} edges, in {} functions; {} hits lost",
                    count_in(member(counts, "executions")), count_in(member(counts, "blocks")),
                    count_in(member(counts, "edges")), count_in(member(counts, "functions")),
                    count_in(member(counts, "lost_hits"))),
        text_in(member(counts, "kind")));
  }

  void add_losses() {
    const json& losses = member(run_, "losses");
    add("Lost",
        fmt::format("{} samples dropped; {} ticks while a stop was under way, {} before which the "
                    "thread slept, {} while it waited for a CPU; {} processes not followed",
                    count_in(member(losses, "samples_dropped")),
                    count_in(member(losses, "ticks_while_stop_in_flight")),
                    count_in(member(losses, "blocked_before_stop")),
                    count_in(member(losses, "waited_for_cpu")),
                    count_in(member(losses, "unfollowed_processes"))),
        text_in(member(losses, "kind")));
  }

  void add_cost() {
    const json& cost = member(run_, "cost");
    const json& overhead = member(cost, "overhead_percent");
    std::string share = "overhead unknown";
    if (overhead.is_number()) {
      share = fmt::format("overhead {} {:.2f} % of {} on-CPU",
                          member(cost, "overhead_is_minimum") == true ? "at least" : "about",
                          overhead.get<double>(), duration_in(member(cost, "target_cpu_us")));
    }
    const json& budget = member(cost, "budget_percent");
    add("Cost to the program",
        fmt::format("{} stops, {} stopped, longest pause {}; {} (budget {} %)",
                    count_in(member(cost, "stops")), duration_in(member(cost, "stopped_us")),
                    duration_in(member(cost, "longest_stop_us")), share,
                    budget.is_number() ? fmt::format("{:g}", budget.get<double>()) : "unknown"),
        text_in(member(cost, "kind")));
  }

  const json& run_;
  RunHead head_;
};

}  // namespace

RunHead parse_head(const std::string& text) {
  const json run = json::parse(text, nullptr, false);
  return run.is_object() ? HeadReader(run).read() : RunHead{};
}

RunHead read_head(const std::string& run) {
  if (!is_only_recorded(run, "run.json")) {
    std::ifstream file(run + "/run.json", std::ios::binary);
    return parse_head(std::string(std::istreambuf_iterator<char>(file), {}));
  }
  auto recording = open_recording(run);
  return recording ? parse_head(recording->reader.facts()) : RunHead{};
}

}  // namespace sp::run_files
