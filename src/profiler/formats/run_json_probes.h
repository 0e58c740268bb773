#pragma once

#include "profiler/formats/json_writer.h"
#include "profiler/formats/run_json.h"

namespace sp::profiler {

/// The keys "probes" and "coverage" of run.json: what breakpoints did, and what they found.
void write_probes(JsonWriter& json, const RunReport& report);
/// The key "trace".
void write_trace(JsonWriter& json, const RunReport& report);
void write_coverage(JsonWriter& json, const RunReport& report);

}  // namespace sp::profiler
