#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/messages.h"
#include "core/module.h"
#include "core/run_facts.h"
#include "profiler/counted_span.h"
#include "profiler/coverage.h"
#include "profiler/line_coverage.h"
#include "profiler/named_code.h"
#include "profiler/profile.h"

namespace sp::profiler {

/// What symbols.tsv has, and whether functions.tsv and trace.sp agree.
struct TracedFunctions {
  std::map<std::string, std::uint64_t> by_reason{};  // the reason's word; rows
  /// Functions whose calls were counted, and whether the trace has as many entries. No function is
  /// compared where the trace leaves calls out.
  std::uint64_t checked = 0;
  std::uint64_t disagreeing = 0;
};

/// The contents of run.json.
struct RunReport {
  core::RunFacts facts;
  std::string version{};  // of superprofiler
  bool snapshot = false;  // the run continues; end, exit status and signal are not known yet
  bool by_thread = false;
  bool wall = false;  // blocked threads were sampled too
  SampleCounts counts;
  const NamedCode* code = nullptr;                    // null if nothing was counted
  std::optional<CoverageTotals> coverage{};           // with --coverage
  std::optional<SourceCoverage::Totals> lines{};      // likewise, where there is debug information
  std::optional<TracedFunctions> traced_functions{};  // with --trace, at the run's end
  CountsContext counts_context{};
  core::CodeExplored explored{};
  std::span<const core::Module> modules;
  std::span<const core::ProcessSeen> processes;
  std::uint64_t unlisted_processes = 0;
  std::vector<std::string> files{};  // of the run
};

/// The word for the end of a stack, in JSON: "root", "copy_ended", ..
[[nodiscard]] std::string_view word_of(core::StackEnd end);

/// run.json: what was run, how it was profiled, the cost, and what is missing. Times are in
/// microseconds unless the key says seconds; unknown values are null.
void write_run_json(std::ostream& out, const RunReport& report);

}  // namespace sp::profiler
