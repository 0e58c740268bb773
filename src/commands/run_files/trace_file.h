#pragma once

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "commands/run_files/trace_facts.h"
#include "core/result.h"
#include "profiler/recorded_run.h"
#include "profiler/trace/trace_reader.h"
#include "profiler/trace/trace_walk.h"

namespace sp::run_files {

/// trace.sp of a run, opened.
struct TraceFile {
  std::string path;
  std::unique_ptr<std::ifstream> file;  // of `reader`
  profiler::TraceReader reader;
  TraceFacts facts{};
};

/// trace.sp in the directory of a run, or `run` itself if it is a trace; "" if there is none.
[[nodiscard]] std::string trace_path(const std::string& run);
/// Errors: there is none; those of TraceReader::open().
[[nodiscard]] core::Result<TraceFile> open_trace(const std::string& run);
/// What the trace says of its run. What it does not know is empty, except the name.
[[nodiscard]] profiler::RecordedRun run_of_trace(TraceFile& trace);
/// What is wanted of the trace, without the short calls that were to be left out.
[[nodiscard]] profiler::TraceView view_of(const TraceFile& trace, const cli::TraceCuts& cuts);
/// How many events are, as the run says; else as the events themselves show it.
[[nodiscard]] std::uint64_t lost_events(const TraceFile& trace, const profiler::TraceWalk& walk);
/// Calls are missing that belong to no known part of the run.
[[nodiscard]] bool misses_some(const TraceFile& trace, const profiler::TraceWalk& walk);
/// What the user has to know of a trace beside its calls: what is lost, damaged, not understood,
/// and of which functions it has calls for a part of the run only.
[[nodiscard]] std::vector<std::string> notes_of_trace(const TraceFile& trace,
                                                      const profiler::TraceWalk& walk);

}  // namespace sp::run_files
