#include <fmt/format.h>

#include <chrono>
#include <string>
#include <vector>

#include "cli/read.h"

namespace sp::cli {

using core::fail;
using core::Result;

Result<void> read_source_places(const Arguments& given, std::vector<std::string>& maps,
                                std::vector<std::string>& debug_dirs) {
  maps = given.all("source-map");
  debug_dirs = given.all("debug-dir");
  for (const std::string& map : maps) {
    const std::size_t sign = map.find('=');
    if (sign == std::string::npos || sign == 0) {
      return fail(fmt::format(
          "--source-map: '{}' is not FROM=TO, such as /build/pkg-1.2=/home/me/pkg", map));
    }
  }
  return {};
}

Result<void> read_coverage_options(const Arguments& given, RecordOptions& options) {
  options.coverage_known = given.all("coverage-known");
  const auto value = given.last("coverage");
  if (!value) {
    for (const char* of_coverage : {"coverage-known", "source-map"}) {
      if (given.has(of_coverage)) {
        return fail(
            fmt::format("--{} is for --coverage; add --coverage, or leave it out", of_coverage));
      }
    }
    return {};
  }
  const bool plain = *value == Arguments::kPlain;
  if (auto known = plain ? Result<void>{} : check_choice("coverage", *value); !known) {
    return known;
  }
  if (given.has("no-instrumentation") || given.has("single")) {
    return fail(fmt::format("--coverage and {} exclude each other; keep one of them",
                            given.has("single") ? "-s" : "-n"));
  }
  options.coverage =
      !plain && *value == "function" ? core::Coverage::function : core::Coverage::block;
  for (const char* of_counts : {"allow-bottlenecking", "derive", "no-copies"}) {
    if (given.has(of_counts)) {
      options.notes.push_back(
          fmt::format("--{}: no effect with --coverage, which counts nothing", of_counts));
    }
  }
  if (!options.all_threads) {
    options.notes.emplace_back("--threads main: --coverage is of all threads");
    options.all_threads = true;
  }
  if (!given.has("interval") && !given.has("frequency")) {
    options.interval = std::chrono::milliseconds(10);
    // Samples are few, and probes have no budget: each costs something once.
    options.overhead_percent = given.has("overhead") ? options.overhead_percent : 0;
  }
  return read_source_places(given, options.source_maps, options.debug_dirs);
}

Result<CoverageOptions> read_coverage_command(const Arguments& given) {
  CoverageOptions options;
  options.runs = given.words();
  if (const auto& after = given.after_dashes()) {
    options.runs.insert(options.runs.end(), after->begin(), after->end());
  }
  options.merges = !options.runs.empty() && options.runs.front() == "merge";
  if (options.merges) {
    options.runs.erase(options.runs.begin());
  }
  options.output = given.last("output").value_or("");
  for (const std::string& run : options.runs) {
    if (run.empty()) {
      return fail("coverage: the name of a run is empty; give the directory of one: output/NAME");
    }
  }
  constexpr const char* kUsage = "superprofiler coverage merge output/A output/B -o output/both";
  if (options.merges && (options.runs.empty() || options.output.empty())) {
    return fail(fmt::format("coverage merge needs runs and a directory: {}", kUsage));
  }
  if (!options.merges && options.runs.size() > 1) {
    return fail(fmt::format("coverage shows one run, {} are given; to join them: {}",
                            options.runs.size(), kUsage));
  }
  options.counts = given.has("counts");
  if (options.counts && options.merges) {
    return fail("coverage merge and --counts exclude each other: counts are of one run");
  }
  if (!options.merges && !options.counts && given.has("output")) {
    return fail(
        "coverage prints a run; -o is for coverage merge, --counts, and for convert -f lcov");
  }
  if (const auto read = read_source_places(given, options.source_maps, options.debug_dirs); !read) {
    return tl::unexpected(read.error());
  }
  return options;
}

}  // namespace sp::cli
