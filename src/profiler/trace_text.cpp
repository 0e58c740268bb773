#include "profiler/trace_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/text.h"

namespace sp::profiler {

std::string trace_text(const core::Tracing& trace, std::uint64_t unwritten) {
  std::string text =
      fmt::format("trace: {} events", grouped(trace.events - std::min(trace.events, unwritten)));
  if (trace.lost > 0) {
    text += fmt::format("; {} found no room (--buffer)", grouped(trace.lost));
  }
  if (unwritten > 0) {
    text += fmt::format("; {} could not be written", grouped(unwritten));
  }
  if (trace.too_hot > 0) {
    text += fmt::format(
        "; {} {} traced for a part of the run only: more than --overhead allows "
        "(-a traces everything, --only-funcs and --filters choose)",
        grouped(trace.too_hot), trace.too_hot == 1 ? "function was" : "functions were");
  }
  return text;
}

}  // namespace sp::profiler
