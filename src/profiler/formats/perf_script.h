#pragma once

#include <iosfwd>

#include "profiler/recorded_run.h"
#include "profiler/recording/recording_reader.h"

namespace sp::profiler {

/// What `perf script` prints, for the programs that read it: for each sample in turn
/// "COMM PID/TID SECONDS.MICROS: PERIOD cpu-clock:", its stack, leaf first, and an empty line.
/// Addresses are those of the process in which a module was first seen. PERIOD is the CPU time in
/// nanoseconds that the sample stands for (1 if unknown); samples of sleeping threads are
/// "off-cpu:".
void write_perf_script(std::ostream& out, const RecordedRun& run, RecordingReader& recording);

}  // namespace sp::profiler
