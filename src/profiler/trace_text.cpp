#include "profiler/trace_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "profiler/text.h"

namespace sp::profiler {

namespace {

/// What leaves more room for events, as it was chosen.
std::string_view more_room(core::WhenFull when_full) {
  switch (when_full) {
    case core::WhenFull::flush:
      break;
    case core::WhenFull::keep:
    case core::WhenFull::discard:
      return "--buffer has more, --only-funcs and --filters need less";
  }
  return "--wait-when-full and -a keep all, --only-funcs and --filters need less";
}

}  // namespace

std::string trace_text(const core::Tracing& trace, std::uint64_t unwritten, std::uint64_t cleared,
                       bool is_full) {
  const std::uint64_t missing = std::min(trace.events, unwritten + cleared);
  std::string text = fmt::format("trace: {} events", grouped(trace.events - missing));
  if (trace.lost > 0) {
    text += fmt::format("; {} found no room ({})", grouped(trace.lost),
                        more_room(trace.choice.when_full));
  }
  if (unwritten > 0) {
    text += fmt::format("; {} {}", grouped(unwritten),
                        is_full ? "were beyond --trace-size" : "could not be written");
  }
  if (trace.cleared + cleared > 0) {
    text += fmt::format("; {} were cleared", grouped(trace.cleared + cleared));
  }
  if (trace.times_off > 0) {
    text += fmt::format("; it was off {} (calls of functions.tsv end with the first time on)",
                        trace.times_off == 1 ? "once" : grouped(trace.times_off) + " times");
  }
  if (trace.learned > 0) {
    text += fmt::format("; {} {} traced while learning only (learned.toml)", grouped(trace.learned),
                        trace.learned == 1 ? "function was" : "functions were");
  }
  if (trace.overwritten > 0) {
    text += fmt::format("; {} {} traced until the program wrote over the breakpoints there",
                        grouped(trace.overwritten),
                        trace.overwritten == 1 ? "function was" : "functions were");
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
