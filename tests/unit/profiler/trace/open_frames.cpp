// Each rule for open frames: what the calls of a thread are, with their closings.
#include "profiler/trace/open_frames.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "unit/profiler/trace/trace_bytes.h"

namespace sp::profiler {
namespace {

using core::TraceEvent;
using core::TraceEventKind;
using test::entry;
using test::kCold;
using test::kInner;
using test::kMain;
using test::kOdd;
using test::kOuter;
using test::ret;
using test::traced;
using Lines = std::vector<std::string>;

/// Completed calls as "main 10-90 self 20 returned", in the order of their ends; functions are
/// called by their first letter and depth by blanks. Fails if calls cross.
class CallLines final : public CallVisitor {
 public:
  void begin(const TracedCall& call) override {
    std::vector<TracedCall>& open = open_[call.stack];
    EXPECT_EQ(call.depth, open.size());
    EXPECT_EQ(call.parent, open.empty() ? TracedCall::kNoFunction : open.back().function);
    EXPECT_TRUE(open.empty() || call.begin_ns >= open.back().begin_ns);
    EXPECT_TRUE(call.begin_ns >= last_[call.stack]);
    last_[call.stack] = call.begin_ns;
    open.push_back(call);
  }
  void end(const TracedCall& call) override {
    std::vector<TracedCall>& open = open_[call.stack];
    ASSERT_FALSE(open.empty());
    EXPECT_EQ(open.back().function, call.function);
    EXPECT_EQ(open.back().begin_ns, call.begin_ns);
    EXPECT_EQ(call.depth + 1, open.size());
    EXPECT_GE(call.end_ns, last_[call.stack]);
    last_[call.stack] = call.end_ns;
    open.pop_back();
    lines.push_back(fmt::format("{}{} {}-{} self {} {}{}",
                                std::string(std::min(call.depth, 9U), ' '),
                                std::string("moixc")[call.function], call.begin_ns / 1000,
                                call.end_ns / 1000, call.self_ns / 1000, word(call.closing),
                                call.stack == 0 ? "" : fmt::format(" stack {}", call.stack)));
  }
  [[nodiscard]] bool all_ended() const {
    for (const auto& [stack, open] : open_) {
      if (!open.empty()) {
        return false;
      }
    }
    return true;
  }

  Lines lines;

 private:
  std::map<std::uint32_t, std::vector<TracedCall>> open_;
  std::map<std::uint32_t, std::int64_t> last_;
};

class Untold final : public CallVisitor {
 public:
  void begin(const TracedCall& call) override { (void)call; }
  void end(const TracedCall& call) override { (void)call; }
};

struct Trial {
  OpenFrames::Rules rules{};
  OpenFrames::Skipped skipped{};
  std::size_t lost_before = ~std::size_t{0};  // that event

  Lines calls(const std::vector<TraceEvent>& events) {
    const OpenFrames::Sources sources{
        [](std::uint32_t function) { return OpenFrames::Facts{.is_part = function == kCold}; },
        [](std::uint64_t ticks) { return static_cast<std::int64_t>(ticks); }};
    const auto feed = [&](OpenFrames& frames) {
      for (std::size_t i = 0; i < events.size(); ++i) {
        if (i == lost_before) {
          frames.lose(3);
        }
        frames.add(events[i]);
      }
      frames.finish();
    };
    OpenFrames::Rules looking = rules;
    looking.finds_before = true;
    Untold untold;
    OpenFrames survey(0, looking, sources, untold);
    feed(survey);
    const std::vector<FrameBefore> before = survey.before();
    CallLines lines;
    OpenFrames frames(0, rules, sources, lines, before);
    feed(frames);
    skipped = frames.skipped();
    EXPECT_TRUE(lines.all_ended());
    return lines.lines;
  }
};

Lines calls(const std::vector<TraceEvent>& events) { return Trial().calls(events); }

TraceEvent resumed(std::int64_t us, std::uint32_t function, std::uint64_t sp) {
  return traced(TraceEventKind::resumed, us, function, sp);
}
TraceEvent tail(std::int64_t us, std::uint32_t function, std::uint64_t sp) {
  return traced(TraceEventKind::tail, us, function, sp);
}

TEST(OpenFrames, close_by_their_returns) {
  EXPECT_EQ(calls({entry(10, kMain, 0x700), entry(20, kOuter, 0x600), entry(30, kInner, 0x500),
                   ret(35, kInner, 0x500), ret(50, kOuter, 0x600), ret(90, kMain, 0x700)}),
            (Lines{"  i 30-35 self 5 returned", " o 20-50 self 25 returned",
                   "m 10-90 self 50 returned"}));
}

TEST(OpenFrames, tell_recursions_apart_by_sp) {
  EXPECT_EQ(calls({entry(1, kMain, 0x700), entry(2, kMain, 0x600), entry(3, kMain, 0x500),
                   ret(4, kMain, 0x500), ret(5, kMain, 0x600), ret(6, kMain, 0x700)}),
            (Lines{"  m 3-4 self 1 returned", " m 2-5 self 2 returned", "m 1-6 self 2 returned"}));
}

TEST(OpenFrames, bear_a_recursion_of_a_hundred_thousand) {
  std::vector<TraceEvent> events;
  constexpr std::int64_t kDeep = 100'000;
  for (std::int64_t i = 0; i < kDeep; ++i) {
    events.push_back(entry(i, kMain, 0x7000'0000 - static_cast<std::uint64_t>(i) * 32));
  }
  for (std::int64_t i = kDeep - 1; i >= 0; --i) {
    events.push_back(ret(2 * kDeep - i, kMain, 0x7000'0000 - static_cast<std::uint64_t>(i) * 32));
  }
  const Lines lines = calls(events);
  ASSERT_EQ(lines.size(), static_cast<std::size_t>(kDeep));
  EXPECT_EQ(lines.back(), "m 0-200000 self 2 returned");
}

TEST(OpenFrames, are_unwound_by_a_throw_through_three_of_them) {
  // m catches what x throws; the landing pad is in m, whose frame goes down to 0x680.
  EXPECT_EQ(calls({entry(1, kMain, 0x700), entry(2, kOuter, 0x600), entry(3, kInner, 0x500),
                   entry(4, kOdd, 0x400), resumed(9, kMain, 0x680), entry(10, kOuter, 0x600),
                   ret(11, kOuter, 0x600), ret(12, kMain, 0x700)}),
            (Lines{"   x 4-9 self 5 unwound", "  i 3-9 self 1 unwound", " o 2-9 self 1 unwound",
                   " o 10-11 self 1 returned", "m 1-12 self 3 returned"}));
}

TEST(OpenFrames, are_unwound_by_longjmp_at_the_next_event_if_nothing_tells_before) {
  EXPECT_EQ(calls({entry(1, kMain, 0x700), entry(2, kOuter, 0x600), entry(3, kInner, 0x500),
                   entry(8, kOdd, 0x600), ret(9, kOdd, 0x600), ret(10, kMain, 0x700)}),
            (Lines{"  i 3-8 self 5 unwound", " o 2-8 self 1 unwound", " x 8-9 self 1 returned",
                   "m 1-10 self 2 returned"}));
  EXPECT_EQ(calls({entry(1, kMain, 0x700), entry(2, kOuter, 0x600), entry(3, kInner, 0x500),
                   ret(7, kMain, 0x700)}),
            (Lines{"  i 3-7 self 4 unwound", " o 2-7 self 1 unwound", "m 1-7 self 1 returned"}))
      << "a return of a frame further out";
}

TEST(OpenFrames, at_the_sp_of_a_landing_pad_are_gone_only_where_calls_do_not_push) {
  const std::vector<TraceEvent> events = {entry(1, kMain, 0x700), entry(2, kOuter, 0x680),
                                          resumed(3, kMain, 0x680), ret(4, kMain, 0x700)};
  Trial trial;
  EXPECT_EQ(trial.calls(events)[0], " o 2-4 self 2 unwound");
  trial.rules.calls_push = false;
  EXPECT_EQ(trial.calls(events)[0], " o 2-3 self 1 unwound");
}

TEST(OpenFrames, follow_chains_of_tail_calls) {
  EXPECT_EQ(calls({entry(1, kMain, 0x700), entry(2, kOuter, 0x600), tail(3, kOuter, 0x600),
                   entry(3, kInner, 0x600), tail(5, kInner, 0x600), entry(5, kOdd, 0x600),
                   ret(8, kOdd, 0x600), ret(9, kMain, 0x700)}),
            (Lines{" o 2-3 self 1 tail", " i 3-5 self 2 tail", " x 5-8 self 3 returned",
                   "m 1-9 self 2 returned"}));
}

TEST(OpenFrames, close_as_tail_if_another_function_returns_from_them) {
  EXPECT_EQ(calls({entry(1, kMain, 0x700), entry(2, kOuter, 0x600), ret(3, kOdd, 0x600),
                   ret(4, kMain, 0x700)}),
            (Lines{" o 2-3 self 1 tail", "m 1-4 self 2 returned"}));
}

TEST(OpenFrames, that_were_entered_before_open_where_the_trace_begins) {
  EXPECT_EQ(calls({entry(10, kOdd, 0x400), ret(11, kOdd, 0x400), ret(20, kInner, 0x500),
                   entry(25, kOdd, 0x500), ret(26, kOdd, 0x500), ret(30, kMain, 0x700)}),
            (Lines{"  x 10-11 self 1 returned", " i 10-20 self 9 entered-before",
                   " x 25-26 self 1 returned", "m 10-30 self 9 entered-before"}));
}

TEST(OpenFrames, that_are_told_as_open_were_entered_before) {
  const auto open = [](std::uint32_t function, std::uint64_t sp) {
    return traced(TraceEventKind::open, 10, function, sp);
  };
  EXPECT_EQ(calls({open(kMain, 0x700), open(kOuter, 0x600), entry(12, kInner, 0x500),
                   ret(14, kInner, 0x500), ret(20, kOuter, 0x600), entry(25, kOdd, 0x600)}),
            (Lines{"  i 12-14 self 2 returned", " o 10-20 self 8 entered-before",
                   " x 25-25 self 0 at-end", "m 10-25 self 5 at-end"}));
  // What only returns tell of is around them, or has no duration.
  EXPECT_EQ(calls({traced(TraceEventKind::on, 9), open(kOuter, 0x600), ret(12, kInner, 0x500),
                   ret(20, kOuter, 0x600), ret(30, kMain, 0x700)}),
            (Lines{"  i 12-12 self 0 entered-before", " o 10-20 self 10 entered-before",
                   "m 9-30 self 11 entered-before"}));
}

TEST(OpenFrames, that_were_entered_before_may_leave_by_a_tail_call) {
  EXPECT_EQ(calls({tail(5, kOuter, 0x600), entry(5, kInner, 0x600), ret(6, kInner, 0x600),
                   ret(9, kMain, 0x700)}),
            (Lines{" o 5-5 self 0 entered-before", " i 5-6 self 1 returned",
                   "m 5-9 self 3 entered-before"}));
}

TEST(OpenFrames, whose_entry_nobody_saw_within_a_known_one_have_no_duration) {
  EXPECT_EQ(calls({entry(1, kMain, 0x700), ret(5, kInner, 0x500), ret(9, kMain, 0x700)}),
            (Lines{" i 5-5 self 0 entered-before", "m 1-9 self 8 returned"}));
}

TEST(OpenFrames, belong_to_the_parts_of_their_functions) {
  EXPECT_EQ(calls({entry(1, kMain, 0x700), entry(2, kOuter, 0x600), ret(4, kCold, 0x600),
                   entry(5, kOuter, 0x600), tail(6, kCold, 0x600), entry(6, kInner, 0x600),
                   ret(7, kInner, 0x600), ret(8, kMain, 0x700)}),
            (Lines{" o 2-4 self 2 returned", " o 5-6 self 1 tail", " i 6-7 self 1 returned",
                   "m 1-8 self 3 returned"}));
}

TEST(OpenFrames, of_each_stack_stay_open_when_the_thread_is_on_another) {
  const auto on_stack = [](std::int64_t us, std::uint32_t stack) {
    return traced(TraceEventKind::stack, us, stack);
  };
  EXPECT_EQ(calls({entry(1, kMain, 0x700), entry(2, kOuter, 0x600), on_stack(3, 2),
                   entry(4, kInner, 0x90000), entry(5, kOdd, 0x80000), on_stack(6, 0),
                   ret(7, kOuter, 0x600), on_stack(8, 2), ret(9, kOdd, 0x80000),
                   ret(10, kInner, 0x90000), on_stack(11, 0), ret(12, kMain, 0x700)}),
            (Lines{" o 2-7 self 2 returned", " x 5-9 self 2 returned stack 2",
                   "i 4-10 self 2 returned stack 2", "m 1-12 self 3 returned"}));
}

TEST(OpenFrames, close_at_the_end_of_the_thread_at_off_and_where_the_trace_stops) {
  EXPECT_EQ(
      calls({entry(1, kMain, 0x700), entry(2, kOuter, 0x600), traced(TraceEventKind::end, 5)}),
      (Lines{" o 2-5 self 3 at-end", "m 1-5 self 1 at-end"}));
  EXPECT_EQ(calls({entry(1, kMain, 0x700), traced(TraceEventKind::off, 5),
                   traced(TraceEventKind::on, 20), ret(22, kInner, 0x500), ret(30, kMain, 0x700)}),
            (Lines{"m 1-5 self 4 at-end", " i 20-22 self 2 entered-before",
                   "m 20-30 self 8 entered-before"}));
  EXPECT_EQ(calls({entry(1, kMain, 0x700), entry(4, kOuter, 0x600)}),
            (Lines{" o 4-4 self 0 at-end", "m 1-4 self 3 at-end"}));
}

TEST(OpenFrames, close_when_the_events_of_their_function_end) {
  Trial trial;
  const TraceEvent ended = TraceEvent::at(TraceEventKind::ended, 5000, kOuter, 0);
  EXPECT_EQ(
      trial.calls({entry(1, kMain, 0x700), entry(2, kOuter, 0x600), ended, ret(9, kMain, 0x700)}),
      (Lines{" o 2-5 self 3 at-end", "m 1-9 self 5 returned"}));
  EXPECT_EQ(trial.calls({entry(1, kMain, 0x700), entry(2, kOuter, 0x600), entry(3, kInner, 0x500),
                         ended, ret(7, kInner, 0x500), ret(9, kMain, 0x700)}),
            (Lines{"  i 3-7 self 4 returned", " o 2-7 self 1 at-end", "m 1-9 self 3 returned"}))
      << "not before those above it";
  EXPECT_EQ(trial.calls({entry(1, kMain, 0x700), entry(2, kOuter, 0x600), ended,
                         ret(6, kOuter, 0x600), ret(9, kMain, 0x700)}),
            (Lines{" o 2-6 self 4 returned", "m 1-9 self 4 returned"}))
      << "a late return is believed";
}

TEST(OpenFrames, have_no_stolen_time_unless_raw_times_are_wanted) {
  const std::vector<TraceEvent> events = {
      entry(10, kMain, 0x700),  traced(TraceEventKind::stolen, 6),
      entry(20, kOuter, 0x600), traced(TraceEventKind::stolen, 4),  // it never shrinks
      ret(30, kOuter, 0x600),   traced(TraceEventKind::stolen, 40),
      ret(45, kMain, 0x700)};
  Trial trial;
  EXPECT_EQ(trial.calls(events), (Lines{" o 14-24 self 10 returned", "m 10-24 self 4 returned"}))
      << "and time never goes back";
  trial.rules.raw_times = true;
  EXPECT_EQ(trial.calls(events), (Lines{" o 20-30 self 10 returned", "m 10-45 self 25 returned"}));
}

TEST(OpenFrames, that_were_entered_where_events_are_lost_open_there) {
  Trial trial;
  trial.lost_before = 2;
  EXPECT_EQ(trial.calls({entry(1, kMain, 0x700), entry(2, kOuter, 0x600), entry(8, kOdd, 0x300),
                         ret(9, kOdd, 0x300), ret(12, kInner, 0x600), ret(20, kMain, 0x700)}),
            (Lines{" o 2-8 self 6 across-loss", "  x 8-9 self 1 returned",
                   " i 8-12 self 3 entered-before", "m 1-20 self 9 across-loss"}));
  EXPECT_EQ(trial.skipped.lost, 3U);
  EXPECT_EQ(calls({entry(1, kMain, 0x700), traced(TraceEventKind::lost, 5, 9),
                   ret(7, kInner, 0x500), ret(9, kMain, 0x700)}),
            (Lines{" i 5-7 self 2 entered-before", "m 1-9 self 6 across-loss"}));
}

TEST(OpenFrames, that_are_open_where_events_are_lost_may_be_those_of_later_calls) {
  const TraceEvent lost = traced(TraceEventKind::lost, 5, 9);
  EXPECT_EQ(
      calls({entry(1, kMain, 0x700), entry(2, kInner, 0x600), lost, ret(90, kInner, 0x600),
             entry(91, kInner, 0x600), ret(92, kInner, 0x600)}),
      (Lines{" i 2-90 self 88 across-loss", " i 91-92 self 1 returned", "m 1-92 self 2 at-end"}));
  EXPECT_EQ(calls({entry(1, kMain, 0x700), entry(2, kInner, 0x600), lost, entry(90, kInner, 0x600),
                   ret(91, kInner, 0x600), lost, tail(95, kMain, 0x700)}),
            (Lines{" i 2-90 self 88 across-loss", " i 90-91 self 1 returned",
                   "m 1-95 self 5 across-loss"}));
}

TEST(OpenFrames, compare_positions_across_the_bits_that_are_kept) {
  constexpr std::uint64_t kWrap = std::uint64_t{1} << 31U;  // of what sp() keeps
  EXPECT_EQ(calls({entry(1, kMain, kWrap + 0x80), entry(2, kOuter, kWrap - 0x80),
                   ret(3, kOuter, kWrap - 0x80), ret(4, kMain, kWrap + 0x80)}),
            (Lines{" o 2-3 self 1 returned", "m 1-4 self 2 returned"}));
}

}  // namespace
}  // namespace sp::profiler
