#pragma once

#include <iosfwd>

#include "profiler/recorded_run.h"
#include "profiler/recording/recording_reader.h"

namespace sp::profiler {

/// Trace events (JSON) of chrome://tracing, which Perfetto and speedscope open, too: a slice (B, E)
/// of a thread for each stretch of samples that have a function at the same depth, category
/// "sampled"; times are microseconds since the run's start. Takes memory for the names and for one
/// stack of each thread.
void write_chrome(std::ostream& out, const RecordedRun& run, RecordingReader& recording);

}  // namespace sp::profiler
