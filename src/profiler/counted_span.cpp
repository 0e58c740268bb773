#include "profiler/counted_span.h"

#include <fmt/format.h>

#include <algorithm>

namespace sp::profiler {
namespace {

using std::chrono::milliseconds;

std::string text_of(milliseconds time) {
  return fmt::format("{}.{:03}", time.count() / 1000, time.count() % 1000);
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
  // A process that was forked before the run began has moments before it.
  const auto of_run = [started](core::TimePoint time) {
    return std::max(core::Duration::zero(), core::Duration(time - started));
  };
  std::string text = "exact";
  if (span.since) {
    text += "-since:" + text_of(std::chrono::ceil<milliseconds>(of_run(*span.since)));
  }
  if (span.until) {
    text += span.since ? "," : "-";
    text += "until:" + text_of(std::chrono::floor<milliseconds>(of_run(*span.until)));
  }
  return text;
}

}  // namespace sp::profiler
