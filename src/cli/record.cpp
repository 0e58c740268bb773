#include <fmt/format.h>

#include <initializer_list>
#include <string_view>
#include <utility>

#include "cli/option_table.h"
#include "cli/read.h"
#include "cli/shell_words.h"
#include "cli/values.h"

namespace sp::cli {
namespace {

using core::fail;
using core::Result;
using Nothing = Result<void>;

constexpr double kHighestRate = 1e6;  // -F, in Hz: an interval of 1 us
constexpr double kMostOverhead = 1000;

Result<Follow> read_follow(const Arguments& given, bool launched) {
  const auto value = given.last("follow");
  if (!value) {
    return Follow{.fork = launched, .exec = true};
  }
  Follow follow{.fork = false, .exec = false};
  const std::vector<std::string> words = split_list(*value);
  for (const std::string& word : words.empty() ? std::vector<std::string>{""} : words) {
    if (const auto known = check_choice("follow", word); !known) {
      return tl::unexpected(known.error());
    }
    if ((word == "all" || word == "none") && words.size() > 1) {
      return fail(fmt::format("--follow: '{}' does not go with others; write it alone", word));
    }
    follow.fork = follow.fork || word == "fork" || word == "all";
    follow.exec = follow.exec || word == "exec" || word == "all";
  }
  return follow;
}

Nothing read_target(const Arguments& given, RecordOptions& options) {
  auto pids = read_pids(given);
  if (!pids) {
    return tl::unexpected(pids.error());
  }
  options.pids = std::move(*pids);
  const auto& after = given.after_dashes();
  const std::vector<std::string> commands = given.all("command");
  if (after && after->empty()) {
    return fail("there is no command after --; write superprofiler -- CMD ARGS...");
  }
  if (after && !commands.empty()) {
    return fail("-c and -- both give a command; keep one of them");
  }
  if (commands.size() > 1) {
    return fail("-c is given twice; one run launches one command; start a run for each");
  }
  if (!options.launches_target() && !commands.empty()) {
    return fail(
        "-p and -c both name a target; keep one of them, or run a load beside PID with "
        "superprofiler -p PID -- CMD");
  }
  if (after) {
    options.command = *after;
  } else if (!commands.empty()) {
    auto words = split_shell_words(commands.front());
    if (!words) {
      return tl::unexpected(words.error());
    }
    options.command = std::move(*words);
  } else if (options.launches_target()) {
    return fail(
        "nothing to profile; give a command (superprofiler -- CMD) or a process "
        "(superprofiler -p PID), see superprofiler --help");
  }
  const auto follow = read_follow(given, options.launches_target());
  if (!follow) {
    return tl::unexpected(follow.error());
  }
  options.follow = *follow;
  options.no_aslr = given.has("no-aslr");
  if (options.no_aslr && !options.launches_target()) {
    options.notes.emplace_back(
        "--no-aslr has no effect with -p: the process already has its addresses");
  }
  return {};
}

Nothing read_rate(const Arguments& given, RecordOptions& options) {
  if (const auto rate = given.last("frequency")) {
    const auto hertz = parse_number("-F", *rate, 1e-3, kHighestRate);
    if (!hertz) {
      return tl::unexpected(hertz.error());
    }
    options.interval = Duration(static_cast<Duration::rep>(1e9 / *hertz));
  }
  return {};
}

Nothing read_interval(const Arguments& given, RecordOptions& options) {
  const auto interval = given.last("interval");
  if (interval && given.has("frequency")) {
    return fail("-i and -F both set the sampling rate; keep one of them");
  }
  if (interval) {
    const auto time = parse_duration("-i", *interval, Unit::microseconds);
    if (!time) {
      return tl::unexpected(time.error());
    }
    options.interval = *time;
  }
  if (options.interval < std::chrono::microseconds(1)) {
    return fail(
        "-i: the shortest interval is 1us; for the highest possible rate write "
        "-i 1 --overhead 0");
  }
  return {};
}

Nothing read_times(const Arguments& given, RecordOptions& options) {
  if (const auto value = given.last("duration")) {
    const auto time = parse_duration("-d", *value, Unit::seconds);
    if (!time) {
      return tl::unexpected(time.error());
    }
    if (*time <= Duration::zero()) {
      return fail("-d: the duration must be more than 0, such as -d 10s");
    }
    options.duration = *time;
  }
  if (const auto value = given.last("delay")) {
    const auto time = parse_duration("-D", *value, Unit::seconds);
    if (!time) {
      return tl::unexpected(time.error());
    }
    options.delay = *time;
  }
  return {};
}

Nothing read_sampling(const Arguments& given, RecordOptions& options) {
  if (auto value = given.last("overhead")) {
    if (value->ends_with('%')) {
      value->pop_back();
    }
    const auto percent = parse_number("--overhead", *value, 0, kMostOverhead);
    if (!percent) {
      return tl::unexpected(percent.error());
    }
    options.overhead_percent = *percent;
  }
  if (const auto value = given.last("trace-prob")) {
    const auto probability = parse_number("-t", *value, 0, 1);
    if (!probability) {
      return tl::unexpected(probability.error());
    }
    options.trace_probability = *probability;
  }
  if (const auto value = given.last("stop-with")) {
    if (auto known = check_choice("stop-with", *value); !known) {
      return known;
    }
    options.stop_with = *value == "sigstop" ? StopWith::sigstop : StopWith::interrupt;
  }
  if (const auto value = given.last("threads")) {
    if (auto known = check_choice("threads", *value); !known) {
      return known;
    }
    options.all_threads = *value == "all";
  }
  options.wall = given.has("wall");
  return {};
}

void note_options_of_probes(const Arguments& given, RecordOptions& options) {
  std::string ignored;
  for (const OptionRow& row : option_table()) {
    if (row.group == Group::exact && row.name != "no-instrumentation" && row.name != "single" &&
        given.has(row.name)) {
      ignored += fmt::format("{}--{}", ignored.empty() ? "" : ", ", row.name);
    }
  }
  if (!ignored.empty()) {
    options.notes.push_back(fmt::format("{}: no effect with {}", ignored,
                                        options.no_instrumentation
                                            ? "-n, which inserts no probes"
                                            : "-s, which counts all code of every module"));
  }
}

Nothing read_exact(const Arguments& given, RecordOptions& options) {
  if (auto read = read_single(given, options); !read) {
    return read;
  }
  if (const auto value = given.last("func-instrumentation-depth")) {
    const auto depth = parse_number("--func-instrumentation-depth", *value, 0, 100000);
    if (!depth) {
      return tl::unexpected(depth.error());
    }
    options.func_instrumentation_depth = static_cast<std::uint64_t>(*depth);
  }
  auto only_funcs = read_functions(given, "only-funcs");
  auto toggle_collect = read_functions(given, "toggle-collect");
  if (!only_funcs || !toggle_collect) {
    return tl::unexpected(!only_funcs ? only_funcs.error() : toggle_collect.error());
  }
  options.only_funcs = *std::move(only_funcs);
  options.toggle_collect = *std::move(toggle_collect);
  if (!options.toggle_collect.empty() && options.single == Single::off) {
    return fail(
        "--toggle-collect goes with -s or --single=step, which count every block; of samples "
        "superprofiler report --callees FUNC shows what a function calls");
  }
  options.only_instrument_execs = options.counts_everything ? std::vector<std::string>{"all"}
                                                            : given.all("only-instrument-execs");
  options.no_instrumentation = given.has("no-instrumentation");
  options.allow_bottlenecking = given.has("allow-bottlenecking") || options.counts_everything;
  options.derive = given.has("derive");
  options.no_copies = given.has("no-copies");
  if (options.single != Single::off || options.no_instrumentation) {
    note_options_of_probes(given, options);
  }
  if (auto read = read_coverage_options(given, options); !read) {
    return read;
  }
  if (auto read = read_trace_options(given, options); !read) {
    return read;
  }
  return read_tree_options(given, options);
}

Nothing read_output(const Arguments& given, RecordOptions& options) {
  options.output = given.last("output").value_or(options.output);
  if (options.output.empty()) {
    return fail("-o: the directory's name is empty; give one, or leave -o out for ./output");
  }
  options.name = given.last("name").value_or("");
  if (given.has("name") && (options.name.empty() || options.name == "." || options.name == ".." ||
                            options.name.find('/') != std::string::npos)) {
    return fail(
        fmt::format("--name: '{}' cannot name a directory; give a name without /, and the "
                    "place with -o DIR",
                    options.name));
  }
  options.overwrite = given.has("overwrite");
  options.flame = given.has("flame") && options.single == Single::off;
  options.by_thread = given.has("by-thread");
  return {};
}

Nothing read_terminal(const Arguments& given, RecordOptions& options) {
  if (given.has("quiet") && given.has("verbose")) {
    return fail("-q and -v contradict each other; keep one of them");
  }
  options.verbosity = given.has("quiet")     ? Verbosity::quiet
                      : given.has("verbose") ? Verbosity::verbose
                                             : Verbosity::normal;
  options.no_progress = given.has("no-progress");
  const auto color = read_color(given);
  if (!color) {
    return tl::unexpected(color.error());
  }
  options.color = *color;
  return {};
}

Result<RecordOptions> read_all(
    const Arguments& given,
    std::initializer_list<Nothing (*)(const Arguments&, RecordOptions&)> readers) {
  RecordOptions options;
  options.debug_dirs = given.all("debug-dir");
  for (const auto read : readers) {
    if (const Nothing done = read(given, options); !done) {
      return tl::unexpected(done.error());
    }
  }
  return options;
}

}  // namespace

Result<RecordOptions> read_record(const Arguments& given) {
  return read_all(given,
                  {read_target, read_rate, read_interval, read_times, read_sampling, read_exact,
                   read_push_options, read_output, read_split_options, read_terminal});
}

Result<RecordOptions> read_live(const Arguments& given) {
  return read_all(given, {read_target, read_rate, read_times, read_sampling, read_exact});
}

}  // namespace sp::cli
