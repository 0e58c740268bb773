#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/run_facts.h"
#include "profiler/coverage.h"
#include "profiler/crash/written_crashes.h"
#include "profiler/line_coverage.h"
#include "profiler/named_code.h"
#include "profiler/named_profile.h"
#include "profiler/run_directory.h"

namespace sp::profiler {

/// A summary of counted code.
struct WrittenCode {
  struct Block {
    std::uint64_t hits = 0;
    std::uint32_t instructions = 0;
    std::string function;
    std::uint64_t offset = 0;  // bytes from the function's start
    std::string module;        // path
    std::string source;        // file:line; "" if unknown
    std::uint64_t samples = 0;
    std::string span{};  // when the hits were counted: "whole run", "until 7.250 s"
  };
  /// The hottest: most hits first. Where some blocks were not counted to the end, those that have
  /// samples, most samples first.
  std::vector<Block> top{};
  /// That of the first row whose code is in a file, as `superprofiler annotate` takes it; "" where
  /// there is none.
  std::string hottest_function{};
  bool by_probes = false;
  std::uint64_t blocks = 0;
  std::uint64_t edges = 0;
  std::uint64_t executions = 0;
  std::uint64_t instructions = 0;
  std::uint64_t lost_hits = 0;
  CodeConsistency consistency{};
};
[[nodiscard]] WrittenCode summed_up(const NamedCode& code, const CountsContext& context,
                                    std::size_t top);

/// A summary of a calling-context tree.
struct WrittenTree {
  std::uint64_t nodes = 0;
  std::uint64_t calls = 0;
  std::uint64_t folded = 0;     // calls and samples deeper than the tree is
  std::uint64_t collapsed = 0;  // and those that found it full
  std::uint64_t lost = 0;       // events
  std::uint64_t ended = 0;      // functions whose calls were seen for a part of the run
};

/// The outcome of a run: a summary of its files, and where they are.
struct WrittenRun {
  std::string directory;
  std::vector<WrittenFile> files{};
  /// Files that could not be written to the run's directory.
  std::vector<core::Error> failures{};
  /// Where those files were written instead; "" if nowhere.
  std::string fallback_directory{};
  SampleCounts counts;
  bool wall = false;
  /// Nothing if code was not counted.
  std::optional<WrittenCode> code{};
  /// With --coverage.
  std::optional<CoverageTotals> coverage{};
  std::optional<SourceCoverage::Totals> lines{};  // where there is debug information
  /// With --trace: those that could not be written.
  std::uint64_t unwritten_events = 0;
  std::uint64_t cleared_events = 0;  // likewise: those that were forgotten on request
  bool trace_is_full = false;        // likewise: --trace-size was reached
  /// With --tree.
  std::optional<WrittenTree> tree{};
  WrittenCrashes crashes{};
  /// With --split: the run's last part, which the rest is of.
  std::optional<core::RunFacts> last_part{};
  /// The first rows of functions.tsv.
  std::vector<Function> top{};
};

}  // namespace sp::profiler
