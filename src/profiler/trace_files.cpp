#include "profiler/trace_files.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>

#include "profiler/describe.h"
#include "profiler/formats/learned_toml.h"
#include "profiler/output_files.h"

namespace sp::profiler {
namespace {

void note_file(core::Result<WrittenFile> file, WrittenRun& written) {
  if (file) {
    written.files.push_back(std::move(*file));
  } else {
    written.failures.push_back(std::move(file.error()));
  }
}

}  // namespace

void write_trace_files(const TraceParts& parts, RunReport& report,
                       const std::function<std::vector<SymbolRow>()>& rows, WrittenRun& written) {
  if (!report.snapshot && rows) {
    std::vector<SymbolRow> table = rows();
    parts.trace.complete(table);
    note_file(parts.directory.write(std::string(kSymbols),
                                    [&](std::ostream& out) { write_symbols_tsv(out, table); }),
              written);
    if (parts.learns) {
      const LearnedRun run{command_text(report.facts.command), report.facts.started_at};
      note_file(parts.directory.write(std::string(kLearnedRules),
                                      [&](std::ostream& out) { write_learned(out, table, run); }),
                written);
    }
  }
  parts.trace.flush();
  written.unwritten_events = parts.trace.unwritten();
  if (report.facts.trace) {
    core::Tracing& trace = *report.facts.trace;
    written.cleared_events = parts.trace.cleared();
    trace.events -= std::min(trace.events, written.unwritten_events + written.cleared_events);
    trace.lost += written.unwritten_events;
    trace.cleared += written.cleared_events;
  }
  for (const WrittenFile& file : written.files) {
    report.files.push_back(file.name);
  }
  report.files.emplace_back(TraceRecorder::kFile);
  std::ostringstream facts;
  write_run_json(facts, report);
  note_file(parts.trace.write_set(parts.profile, parts.namer, facts.str(), !report.snapshot),
            written);
}

}  // namespace sp::profiler
