#pragma once

#include <iosfwd>
#include <string_view>

#include "profiler/trace/trace_reader.h"
#include "profiler/trace/trace_walk.h"

namespace sp::profiler {

/// Trace events (JSON) of chrome://tracing, which Perfetto and speedscope open, too: B and E for
/// each call, category "traced"; times are microseconds since the run's start. A further stack of a
/// thread is a thread of its own. `walk` is one of `trace`.
void write_trace_chrome(std::ostream& out, TraceReader& trace, TraceWalk& walk,
                        std::string_view command, std::string_view exporter);

}  // namespace sp::profiler
