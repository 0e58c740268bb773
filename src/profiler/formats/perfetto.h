#pragma once

#include <iosfwd>

#include "profiler/recorded_run.h"
#include "profiler/recording/recording_reader.h"

namespace sp::profiler {

/// A trace of Perfetto's (protobuf, https://perfetto.dev/docs/reference/trace-packet-proto): the
/// slices of write_chrome() as track events, on a track for each thread, by CLOCK_MONOTONIC. Takes
/// memory for the names and for one stack of each thread.
void write_perfetto(std::ostream& out, const RecordedRun& run, RecordingReader& recording);

}  // namespace sp::profiler
