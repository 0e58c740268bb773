#pragma once

#include <iosfwd>

#include "profiler/trace/trace_reader.h"
#include "profiler/trace/trace_walk.h"

namespace sp::profiler {

/// A log of LLVM's XRay in basic mode, version 3: 32 bytes of a header, 32 a record, two records a
/// call. Ticks are nanoseconds since the trace's first call. A further stack of a thread is a
/// thread of its own. `walk` is one of `trace`.
void write_xray_log(std::ostream& out, TraceReader& trace, TraceWalk& walk);

/// The functions as llvm-xray's instrumentation map (YAML): -instr_map=FILE. Their ids are the
/// numbers of the trace plus 1.
void write_xray_map(std::ostream& out, const TraceReader& trace);

}  // namespace sp::profiler
