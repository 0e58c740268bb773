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
    return value == "self" ? Sort::self : value == "total" ? Sort::total : Sort::calls;
  });
}

Result<ReportOptions> read_report(const Arguments& given) {
  auto run = read_run_name(given, "report", "superprofiler report output/NAME");
  if (!run) {
    return tl::unexpected(run.error());
  }
  ReportOptions options;
  options.run = std::move(*run);
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
  if (options.by_thread && options.sort == Sort::calls) {
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

Result<InfoOptions> read_info(const Arguments& given) {
  auto run = read_run_name(given, "info", "superprofiler info output/NAME");
  if (!run) {
    return tl::unexpected(run.error());
  }
  return InfoOptions{std::move(*run), given.has("json")};
}

}  // namespace sp::cli
