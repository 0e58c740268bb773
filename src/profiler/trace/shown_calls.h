#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "profiler/trace/traced_call.h"

namespace sp::profiler {

/// Which part of a trace is wanted. Times are nanoseconds since the run's start.
struct TraceView {
  std::optional<std::int64_t> from_ns{};
  std::optional<std::int64_t> to_ns{};
  std::uint64_t limit = 0;    // begins and ends; 0: all
  bool raw_times = false;     // with the time that superprofiler's stops took
  std::int64_t least_ns = 0;  // shorter calls whose beginning and end are there are left out
};

/// Passes on what a view has of the calls, but for short ones: OpenFrames leaves those out. A call
/// that is open at a cut begins or ends there; one that has not ended there closes as at-end. A
/// call that may be left out is passed on when it is known that it is not, with those that it is in
/// before it.
class ShownCalls final : public CallVisitor {
 public:
  /// `to` must outlive it.
  ShownCalls(const TraceView& view, CallVisitor& to) : view_(view), to_(to) {}

  void begin(const TracedCall& call) override;
  void end(const TracedCall& call) override;
  /// It counts as a begin of `limit`.
  void note(const TracedEvent& event) override;

  /// Nothing begins any more.
  [[nodiscard]] bool is_full() const { return is_full_; }
  [[nodiscard]] std::uint64_t passed_on() const { return events_; }
  [[nodiscard]] std::uint64_t notes() const { return notes_; }  // the program's own events

 private:
  struct Track {
    std::vector<TracedCall> open;  // outermost first
    std::size_t shown = 0;         // of them
  };

  void show(Track& track, std::size_t count);

  const TraceView view_;
  CallVisitor& to_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Track> tracks_;  // by thread and stack
  std::uint64_t events_ = 0;
  std::uint64_t notes_ = 0;
  std::uint64_t open_ = 0;  // shown, and not ended
  bool is_full_ = false;
};

}  // namespace sp::profiler
