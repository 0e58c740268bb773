#pragma once

#include <functional>
#include <vector>

#include "profiler/formats/run_json.h"
#include "profiler/formats/symbols_tsv.h"
#include "profiler/named_code.h"
#include "profiler/namer.h"
#include "profiler/profile.h"
#include "profiler/run_directory.h"
#include "profiler/trace_recorder.h"
#include "profiler/written_run.h"

namespace sp::profiler {

/// Whose files they are.
struct TraceParts {
  TraceRecorder& trace;
  RunDirectory& directory;
  const Profile& profile;
  Namer& namer;
  bool learns = false;
  const NamedCode* code = nullptr;  // whose calls are to agree with the events; null: none are
};

/// Writes what a run with --trace has beside its other files: the names and facts of trace.sp, and
/// at the run's end symbols.tsv, with what `rows` returns if it is set, and with `learns`
/// learned.toml. Events that could not be written become lost ones of `report`, which gets what the
/// files say of functions.
void write_trace_files(const TraceParts& parts, RunReport& report,
                       const std::function<std::vector<SymbolRow>()>& rows, WrittenRun& written);

}  // namespace sp::profiler
