#pragma once

#include <iosfwd>

#include "profiler/recorded_run.h"
#include "profiler/recording/recording_reader.h"

namespace sp::profiler {

/// A processed profile (JSON) of the Firefox profiler, version 66: https://profiler.firefox.com.
/// The samples of each thread with their times; functions, inlined ones too, lines, modules. Takes
/// 32 bytes for each single sample, which a recording has 4.2 million of at most, and 4 for each
/// node of the tree of stacks.
void write_firefox(std::ostream& out, const RecordedRun& run, RecordingReader& recording);

}  // namespace sp::profiler
