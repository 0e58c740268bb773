#include <fmt/format.h>

#include <utility>

#include "cli/read.h"
#include "cli/values.h"

namespace sp::cli {

using core::fail;
using core::Result;

Result<std::string> read_run_name(const Arguments& given, std::string_view command,
                                  std::string_view usage) {
  std::vector<std::string> runs = given.words();
  if (const auto& after = given.after_dashes()) {
    runs.insert(runs.end(), after->begin(), after->end());
  }
  if (runs.size() > 1) {
    return fail(fmt::format("{} takes one run, {} are given: {}", command, runs.size(), usage));
  }
  if (!runs.empty() && runs.front().empty()) {
    return fail(fmt::format("{}: the name of the run is empty; leave it out or give one", command));
  }
  return runs.empty() ? std::string() : runs.front();
}

Result<Sort> read_sort(std::string_view value) {
  return check_choice("sort", value).map([value] {
    return value == "self"    ? Sort::self
           : value == "total" ? Sort::total
           : value == "max"   ? Sort::max
                              : Sort::calls;
  });
}

Result<TraceCuts> read_trace_cuts(const Arguments& given) {
  TraceCuts cuts;
  for (const char* const option : {"from", "to"}) {
    if (const auto text = given.last(option)) {
      const auto time = parse_duration(option, *text, Unit::seconds);
      if (!time) {
        return tl::unexpected(time.error());
      }
      (option == std::string_view("from") ? cuts.from : cuts.to) = *time;
    }
  }
  if (cuts.from && cuts.to && *cuts.from >= *cuts.to) {
    return fail("--from is not before --to, so nothing is left; exchange them");
  }
  if (const auto text = given.last("limit")) {
    constexpr double kMost = 1e15;
    const auto limit = parse_number("limit", *text, 0, kMost);
    if (!limit) {
      return tl::unexpected(limit.error());
    }
    cuts.limit = static_cast<std::uint64_t>(*limit);
  }
  cuts.raw_times = given.has("raw-times");
  return cuts;
}

namespace {

constexpr std::uint64_t kDefaultLimit = 10'000;  // of the graph's lines

/// What is for --trace alone.
Result<void> read_trace_report(const Arguments& given, ReportOptions& options) {
  options.trace = given.has("trace");
  options.graph = given.has("graph");
  auto cuts = read_trace_cuts(given);
  if (!cuts) {
    return tl::unexpected(cuts.error());
  }
  options.cuts = *cuts;
  if (!options.trace && (options.graph || cuts->are_given() || options.sort == Sort::max)) {
    return fail(
        "report: --graph, --from, --to, --limit, --raw-times and --sort max are of calls: give "
        "--trace as well");
  }
  if (!options.graph && (cuts->from || cuts->to || given.has("limit"))) {
    return fail("report --trace: --from, --to and --limit cut the graph: give --graph as well");
  }
  if (options.trace && (given.has("callers") || given.has("callees") || options.by_module)) {
    return fail(
        "report --trace: --callers, --callees and --by-module are of samples; leave out one of "
        "them");
  }
  if (options.graph && (given.has("json") || options.sort || options.by_thread)) {
    return fail(
        "report --trace --graph prints calls in the order of their times: leave out --json, "
        "--sort and --by-thread");
  }
  if (options.graph && !given.has("limit")) {
    options.cuts.limit = kDefaultLimit;
  }
  return {};
}

/// What is for --html alone.
Result<void> read_html_report(const Arguments& given, ReportOptions& options) {
  options.html = given.has("html");
  options.output = given.last("output").value_or("");
  options.debug_dirs = given.all("debug-dir");
  if (!options.html && given.has("output")) {
    return fail("report: -o is of --html: superprofiler report --html -o FILE");
  }
  if (given.has("output") && options.output.empty()) {
    return fail("report --html: the name of the file is empty; leave it out or give one");
  }
  for (const char* const option :
       {"json", "trace", "graph", "callers", "callees", "by-module", "by-thread", "sort",
        "percent-limit", "from", "to", "limit", "raw-times"}) {
    if (options.html && given.has(option)) {
      return fail(fmt::format(
          "report --html writes everything, to sort and search in the page: leave out --{}",
          option));
    }
  }
  return {};
}

}  // namespace

Result<ReportOptions> read_report(const Arguments& given) {
  auto run = read_run_name(given, "report", "superprofiler report output/NAME");
  if (!run) {
    return tl::unexpected(run.error());
  }
  ReportOptions options;
  options.run = std::move(*run);
  if (const auto read = read_html_report(given, options); !read) {
    return tl::unexpected(read.error());
  }
  if (const auto sort = given.last("sort")) {
    const auto known = read_sort(*sort);
    if (!known) {
      return tl::unexpected(known.error());
    }
    options.sort = *known;
  }
  options.callers = given.last("callers").value_or("");
  options.callees = given.last("callees").value_or("");
  options.by_module = given.has("by-module");
  options.by_thread = given.has("by-thread");
  for (const char* const option : {"callers", "callees"}) {
    if (given.has(option) && given.last(option)->empty()) {
      return fail(fmt::format("--{0}: the function's name is empty; write --{0} F", option));
    }
  }
  if (given.has("callers") + given.has("callees") + options.by_module + options.by_thread > 1) {
    return fail(
        "report prints one table: give --callers, --callees, --by-module or --by-thread alone");
  }
  if (const auto read = read_trace_report(given, options); !read) {
    return tl::unexpected(read.error());
  }
  if (!options.trace && options.by_thread && options.sort == Sort::calls) {
    return fail("report --by-thread: calls are not counted by thread; leave --sort out");
  }
  if (const auto limit = given.last("percent-limit")) {
    const auto percent = parse_number("percent-limit", *limit, 0, 100);
    if (!percent) {
      return tl::unexpected(percent.error());
    }
    options.percent_limit = *percent;
  }
  options.json = given.has("json");
  return options;
}

/// report --trace --graph.
Result<ReportOptions> read_replay(const Arguments& given) {
  auto run = read_run_name(given, "replay", "superprofiler replay output/NAME");
  auto cuts = read_trace_cuts(given);
  if (!run || !cuts) {
    return tl::unexpected(run ? cuts.error() : run.error());
  }
  ReportOptions options;
  options.run = std::move(*run);
  options.trace = true;
  options.graph = true;
  options.cuts = *cuts;
  if (!given.has("limit")) {
    options.cuts.limit = kDefaultLimit;
  }
  return options;
}

Result<InfoOptions> read_info(const Arguments& given) {
  auto run = read_run_name(given, "info", "superprofiler info output/NAME");
  if (!run) {
    return tl::unexpected(run.error());
  }
  return InfoOptions{std::move(*run), given.has("json")};
}

}  // namespace sp::cli
