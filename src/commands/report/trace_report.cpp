#include "commands/report/trace_report.h"

#include <fmt/format.h>

#include <iostream>

#include "commands/report/call_graph.h"
#include "commands/report/trace_table.h"
#include "commands/report/trace_text.h"
#include "commands/run_files/finished_run.h"
#include "commands/run_files/pager.h"
#include "commands/run_files/trace_file.h"
#include "core/log.h"
#include "profiler/text.h"

namespace sp::report {
namespace {

bool show_table(const cli::ReportOptions& options, run_files::TraceFile& trace,
                profiler::TraceWalk& walk) {
  TraceSums sums(options.by_thread);
  walk.run(sums);
  const TraceTable table = sums.table(trace.reader, options.sort.value_or(cli::Sort::self),
                                      options.percent_limit, run_files::misses_some(trace, walk));
  const TraceTitle title{run_files::run_of_trace(trace).command,
                         options.by_thread ? "threads" : "functions", options.cuts.raw_times,
                         trace.reader.threads().size() > 1, run_files::lost_events(trace, walk)};
  if (options.json) {
    write_trace_json(std::cout, title, table);
    return static_cast<bool>(std::cout.flush());
  }
  return run_files::show([&](std::ostream& out) { write_trace_text(out, title, table); });
}

bool show_graph(run_files::TraceFile& trace, profiler::TraceWalk& walk) {
  return run_files::show([&](std::ostream& out) {
    const profiler::TraceTracks tracks = name_tracks(trace.reader, walk.tracks());
    CallGraphText graph(out, trace.reader, tracks);
    graph.write_heading();
    walk.run(graph);
  });
}

}  // namespace

int report_trace(const cli::ReportOptions& options, const std::string& run) {
  constexpr int kUnreadable = 125;
  auto trace = run_files::open_trace(run);
  if (!trace) {
    core::print_error(trace.error().message());
    return kUnreadable;
  }
  profiler::TraceWalk walk(trace->reader, run_files::view_of(*trace, options.cuts));
  const bool is_shown =
      options.graph ? show_graph(*trace, walk) : show_table(options, *trace, walk);
  if (!is_shown) {
    core::print_error("writing to stdout failed");
    return kUnreadable;
  }
  std::vector<std::string> notes = run_files::notes_of_trace(*trace, walk);
  if (walk.is_cut()) {
    notes.push_back(fmt::format("the trace goes on: --limit {} is reached; 0 shows all",
                                profiler::grouped(options.cuts.limit)));
  }
  run_files::print_notes(notes, options.graph ? "the graph" : "the table");
  return 0;
}

}  // namespace sp::report
