#pragma once

#include <iosfwd>
#include <string_view>

#include "profiler/trace/trace_reader.h"
#include "profiler/trace/trace_walk.h"

namespace sp::profiler {

/// speedscope's JSON: a profile of type "evented" for each thread, and for each further stack of a
/// thread, in nanoseconds since the run's start. Reads the events of a thread once for each of its
/// stacks. `walk` is one of `trace`.
void write_trace_speedscope(std::ostream& out, TraceReader& trace, TraceWalk& walk,
                            std::string_view name, std::string_view exporter);

}  // namespace sp::profiler
