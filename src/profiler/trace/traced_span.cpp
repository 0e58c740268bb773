#include "profiler/trace/traced_span.h"

#include "profiler/counted_span.h"
#include "profiler/trace/trace_names.h"

namespace sp::profiler {
namespace {

constexpr core::TimePoint kTraceStart{};

CountedSpan traced_span(const TraceFunction* function) {
  CountedSpan span;
  if (function != nullptr && function->since_ns) {
    span.since = kTraceStart + core::Duration(*function->since_ns);
  }
  if (function != nullptr && function->until_ns) {
    span.until = kTraceStart + core::Duration(*function->until_ns);
  }
  return span;
}

}  // namespace

std::string traced_kind(const TraceReader& reader, std::uint32_t number, bool misses_some) {
  return misses_some ? std::string(kMixedCalls)
                     : kind_text(traced_span(reader.function(number)), kTraceStart);
}

std::vector<std::string> partly_traced(const TraceReader& reader) {
  std::vector<std::string> functions;
  for (const std::uint32_t number : reader.function_numbers()) {
    const CountedSpan span{{}, traced_span(reader.function(number)).until};
    if (span.until) {
      functions.push_back(trace_function_name(reader, number) + " " + span_text(span, kTraceStart));
    }
  }
  return functions;
}

}  // namespace sp::profiler
