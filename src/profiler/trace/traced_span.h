#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/trace/trace_reader.h"

namespace sp::profiler {

/// What the calls of functions are where events are missing, or the trace was off for a while.
inline constexpr std::string_view kMixedCalls = "mixed";

/// The part of the run for which a trace has the calls of a function, as kind_text() says it:
/// "exact", "exact-until:2.742". `misses_some`: "mixed", which part that is nobody knows.
[[nodiscard]] std::string traced_kind(const TraceReader& reader, std::uint32_t number,
                                      bool misses_some);

/// "leaf(long) until 2.742 s": each function whose calls end before the trace does.
[[nodiscard]] std::vector<std::string> partly_traced(const TraceReader& reader);

}  // namespace sp::profiler
