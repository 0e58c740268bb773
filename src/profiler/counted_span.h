#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/clock.h"
#include "core/module.h"

namespace sp::profiler {

/// The time during which every execution of some code was counted.
struct CountedSpan {
  std::optional<core::TimePoint> since{};  // nothing: from the first execution
  std::optional<core::TimePoint> until{};  // nothing: to the last execution

  bool operator==(const CountedSpan&) const = default;
  [[nodiscard]] bool is_whole() const { return !since && !until; }
};

/// The intersection: the later `since`, the earlier `until`.
[[nodiscard]] CountedSpan shared(const CountedSpan& a, const CountedSpan& b);

/// "exact", "exact-since:2.000", "exact-until:7.250", "exact-since:2.000,until:7.250": seconds
/// since the run's start, rounded so that the span only gets shorter.
[[nodiscard]] std::string kind_text(const CountedSpan& span, core::TimePoint started);

/// The same for a table: "whole run", "since 2.000 s", "until 7.250 s", "2.000-7.250 s".
[[nodiscard]] std::string span_text(const CountedSpan& span, core::TimePoint started);

/// What all counts of a run share.
struct CountsContext {
  std::span<const core::Module> modules;
  /// The span of the run's counting; no count has a longer one.
  CountedSpan counted{};
  core::TimePoint started{};  // times in files count from here

  [[nodiscard]] std::string kind(const CountedSpan& of = {}) const {
    return kind_text(shared(counted, of), started);
  }
  [[nodiscard]] std::string span(const CountedSpan& of) const {
    return span_text(shared(counted, of), started);
  }
};

}  // namespace sp::profiler
