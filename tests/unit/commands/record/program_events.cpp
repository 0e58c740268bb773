// What a program says itself: arguments of calls, and events of its own with their data.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "profiler/trace/open_frames.h"
#include "profiler/trace/shown_calls.h"
#include "profiler/trace/trace_names.h"
#include "supervisor/instruments/probes/thread_trace.h"
#include "unit/profiler/trace/trace_bytes.h"

namespace sp::profiler {
namespace {

using core::Address;
using core::ProgramEvent;
using core::TraceEvent;
using core::TraceEventKind;
using std::chrono::microseconds;
using supervisor::ThreadTrace;
using supervisor::TraceLimits;
using Lines = std::vector<std::string>;

constexpr Address kSp{0x70FF'0000};

core::TimePoint at(int us) { return core::TimePoint{microseconds(us)}; }

ProgramEvent event(const std::string& text, std::optional<std::uint32_t> type = {}) {
  ProgramEvent made{type, text.size(), {}};
  for (const char c : text.substr(0, core::kMostTraceData)) {
    made.data.push_back(static_cast<std::byte>(c));
  }
  return made;
}

ThreadTrace trace_with(const TraceLimits& limits) {
  ThreadTrace trace({1, 1}, {1, 1}, limits);
  trace.use_stack({Address{0x7000'0000}, Address{0x7100'0000}}, true);
  return trace;
}

class Told final : public CallVisitor {
 public:
  void begin(const TracedCall& call) override {
    lines.push_back(call.argument ? fmt::format("+{}({})", call.function, *call.argument)
                                  : fmt::format("+{}", call.function));
  }
  void end(const TracedCall& call) override { lines.push_back(fmt::format("-{}", call.function)); }
  void note(const TracedEvent& noted) override {
    lines.push_back(fmt::format("{} of {} at {} in {}: {}", event_name(noted.event),
                                noted.event.size, noted.at_ns / 1000, noted.depth,
                                event_data(noted.event)));
  }

  Lines lines;
};

Lines told(const std::vector<TraceEvent>& events, const TraceView& view = {}) {
  const OpenFrames::Sources sources{
      [](std::uint32_t /*function*/) { return OpenFrames::Facts{}; },
      [](std::uint64_t ticks) { return static_cast<std::int64_t>(ticks); }};
  Told told;
  ShownCalls shown(view, told);
  OpenFrames frames(0, {}, sources, shown);
  for (const TraceEvent& one : events) {
    frames.add(one);
  }
  frames.finish();
  return told.lines;
}

std::vector<TraceEvent> calls_that_say_something() {
  ThreadTrace trace = trace_with({});
  trace.enter(1, kSp, at(1), {}, false, 7);
  trace.note(event("hello"), at(2));
  trace.enter(2, kSp - 32, at(3));
  trace.note(event(std::string("\1\0\xFF", 3), 9), at(4));
  trace.leave(2, false, kSp - 32, at(5));
  trace.note(event("exactly twenty-four byte"), at(6));
  trace.note(event(""), at(7));
  trace.leave(1, false, kSp, at(8));
  return trace.take().events;
}

TEST(ProgramEvents, are_told_with_their_data) {
  EXPECT_EQ(told(calls_that_say_something()),
            (Lines{"+1(7)", "custom event of 5 at 2 in 1: hello", "+2",
                   "typed event 9 of 3 at 4 in 2: 01 00 ff", "-2",
                   "custom event of 24 at 6 in 1: exactly twenty-four byte",
                   "custom event of 0 at 7 in 1: ", "-1"}));
}

TEST(ProgramEvents, are_shown_within_the_times_and_the_limit_of_a_view) {
  TraceView view;
  view.from_ns = 3000;
  view.to_ns = 5000;
  EXPECT_EQ(told(calls_that_say_something(), view),
            (Lines{"+1(7)", "+2", "typed event 9 of 3 at 4 in 2: 01 00 ff", "-2", "-1"}));
  view = {};
  view.limit = 3;
  EXPECT_EQ(told(calls_that_say_something(), view),
            (Lines{"+1(7)", "custom event of 5 at 2 in 1: hello", "-1"}));
}

TEST(ProgramEvents, keep_the_beginning_of_much_data) {
  ThreadTrace trace = trace_with({});
  trace.note(event(std::string(5000, 'x')), at(1));
  const Lines lines = told(trace.take().events);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0], "custom event of 5000 at 1 in 0: " + std::string(1024, 'x'));
}

TEST(ProgramEvents, go_whole_where_only_the_newest_are_kept) {
  TraceLimits limits;
  limits.when_full = core::WhenFull::keep;
  limits.buffer = 2;
  ThreadTrace trace = trace_with(limits);
  for (int i = 0; i < 9; ++i) {
    trace.enter(1, kSp, at(3 * i), {}, false, 100 + i);
    trace.note(event("thirteen byte"), at(3 * i + 1));
    trace.leave(1, false, kSp, at(3 * i + 2));
  }
  EXPECT_EQ(told(trace.take().events),
            (Lines{"custom event of 13 at 25 in 0: thirteen byte", "+1", "-1"}));
}

TEST(ProgramEvents, keep_short_calls_and_arguments_do_not) {
  TraceLimits limits;
  limits.min_duration = microseconds(10);
  ThreadTrace trace = trace_with(limits);
  trace.enter(1, kSp, at(1), {}, false, 5);
  trace.leave(1, false, kSp, at(2));
  EXPECT_FALSE(trace.has_news());
  trace.enter(2, kSp, at(3), {}, false, 6);
  trace.note(event("!"), at(4));
  trace.leave(2, false, kSp, at(5));
  EXPECT_EQ(told(trace.take().events), (Lines{"+2(6)", "custom event of 1 at 4 in 1: !", "-2"}));
}

TEST(ProgramEvents, are_none_while_the_trace_is_off) {
  ThreadTrace trace = trace_with({});
  trace.pause(at(0));
  trace.enter(1, kSp, at(1), {}, false, 5);
  trace.note(event("!"), at(2));
  EXPECT_FALSE(trace.has_news());
}

TEST(ProgramEvents, of_which_the_data_are_lost_stand_alone) {
  const TraceEvent data = TraceEvent::at(TraceEventKind::data, 1, 2, 0);
  EXPECT_EQ(told({data, TraceEvent::own(TraceEventKind::typed, 2000, 4, 40)}),
            (Lines{"typed event 4 of 40 at 2 in 0: "}));
}

}  // namespace
}  // namespace sp::profiler
