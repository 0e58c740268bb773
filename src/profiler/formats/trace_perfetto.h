#pragma once

#include <iosfwd>

#include "profiler/trace/trace_reader.h"
#include "profiler/trace/trace_walk.h"

namespace sp::profiler {

/// A trace of Perfetto's (protobuf): the calls as track events, category "traced", on a track for
/// each thread and below it for each further stack of the thread, by CLOCK_MONOTONIC. The end of a
/// call that did not return has the annotation "closing". `walk` is one of `trace`. Takes memory
/// for the names of functions.
void write_trace_perfetto(std::ostream& out, TraceReader& trace, TraceWalk& walk);

}  // namespace sp::profiler
