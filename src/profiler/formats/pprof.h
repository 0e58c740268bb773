#pragma once

#include <iosfwd>

#include "profiler/recorded_run.h"

namespace sp::profiler {

/// pprof's profile.proto, not compressed: samples with stacks, the calls of functions, and the
/// executed instructions of blocks, each a type of value of its own. `code` is null if nothing was
/// counted. Reads the stacks once.
void write_pprof(std::ostream& out, const RecordedRun& run, StackSource& stacks,
                 const RecordedCode* code);

}  // namespace sp::profiler
