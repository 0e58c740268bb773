#include "profiler/trace_files.h"

#include <algorithm>
#include <map>
#include <span>
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

/// "allow:RULE" is "allow".
std::map<std::string, std::uint64_t> count_reasons(std::span<const SymbolRow> rows) {
  std::map<std::string, std::uint64_t> functions;
  for (const SymbolRow& row : rows) {
    ++functions[row.reason.substr(0, row.reason.find(':'))];
  }
  return functions;
}

/// What a thread has counted and not told when it ends, or is left, may be missing.
void compare_entries(const NamedCode& code, const TraceRecorder& trace, const core::RunFacts& facts,
                     TracedFunctions& traced) {
  const bool may_miss_some = facts.threads > 1 || facts.end != core::RunEnd::target_exited;
  const std::uint64_t tolerated = may_miss_some ? facts.threads : 0;
  for (const CodeFunction& function : code.functions) {
    const auto entries = trace.entries_of({function.module, function.start});
    if (!entries || !function.has_calls || function.calls_span.until ||
        (*entries == 0 && function.calls == 0)) {
      continue;
    }
    ++traced.checked;
    const auto [least, most] = std::minmax(*entries, function.calls);
    traced.disagreeing += most - least > tolerated ? 1 : 0;
  }
}

}  // namespace

void write_trace_files(const TraceParts& parts, RunReport& report,
                       const std::function<std::vector<SymbolRow>()>& rows, WrittenRun& written) {
  if (!report.snapshot && rows) {
    std::vector<SymbolRow> table = rows();
    parts.trace.complete(table);
    report.traced_functions.emplace().by_reason = count_reasons(table);
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
  parts.trace.set_since(report.counts_context.counted.since);
  parts.trace.flush();
  written.unwritten_events = parts.trace.unwritten();
  if (report.facts.trace) {
    core::Tracing& trace = *report.facts.trace;
    written.cleared_events = parts.trace.cleared();
    trace.events -= std::min(trace.events, written.unwritten_events + written.cleared_events);
    trace.lost += written.unwritten_events;
    trace.is_full = written.trace_is_full = parts.trace.is_full();
    trace.cleared += written.cleared_events;
    const bool has_all = trace.lost == 0 && trace.cleared == 0 && trace.times_off == 0;
    if (has_all && report.traced_functions && parts.code != nullptr) {
      compare_entries(*parts.code, parts.trace, report.facts, *report.traced_functions);
    }
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
