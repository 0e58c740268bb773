#include "profiler/counted_span.h"

#include <fmt/format.h>

#include <algorithm>

namespace sp::profiler {
namespace {

using std::chrono::milliseconds;

std::string text_of(milliseconds time) {
  return fmt::format("{}.{:03}", time.count() / 1000, time.count() % 1000);
}

/// A process that was forked before the run began may have earlier times.
core::Duration of_run(core::TimePoint time, core::TimePoint started) {
  return std::max(core::Duration::zero(), core::Duration(time - started));
}

std::string since_text(core::TimePoint time, core::TimePoint started) {
  return text_of(std::chrono::ceil<milliseconds>(of_run(time, started)));
}

std::string until_text(core::TimePoint time, core::TimePoint started) {
  return text_of(std::chrono::floor<milliseconds>(of_run(time, started)));
}

}  // namespace

CountedSpan shared(const CountedSpan& a, const CountedSpan& b) {
  CountedSpan both = {std::max(a.since, b.since), a.until ? a.until : b.until};
  if (a.until && b.until) {
    both.until = std::min(*a.until, *b.until);
  }
  return both;
}

std::string kind_text(const CountedSpan& span, core::TimePoint started) {
  std::string text = "exact";
  if (span.since) {
    text += "-since:" + since_text(*span.since, started);
  }
  if (span.until) {
    text += span.since ? "," : "-";
    text += "until:" + until_text(*span.until, started);
  }
  return text;
}

std::string span_text(const CountedSpan& span, core::TimePoint started) {
  if (span.is_whole()) {
    return "whole run";
  }
  if (!span.until) {
    return "since " + since_text(*span.since, started) + " s";
  }
  if (!span.since) {
    return "until " + until_text(*span.until, started) + " s";
  }
  return since_text(*span.since, started) + "-" + until_text(*span.until, started) + " s";
}

}  // namespace sp::profiler
