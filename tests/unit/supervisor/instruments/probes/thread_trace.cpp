#include "supervisor/instruments/probes/thread_trace.h"

#include <gtest/gtest.h>

#include <string>

namespace sp::supervisor {
namespace {

using core::Address;
using core::TraceEventKind;
using std::chrono::microseconds;

constexpr core::AddressRange kStack{Address{0x7000'0000}, Address{0x7100'0000}};
constexpr Address kSp{0x70FF'0000};

core::TimePoint at(int us) { return core::TimePoint{microseconds(us)}; }

/// "+1 +2 -2 -1": entries, returns, >tail calls, ^landing pads, #stacks, ~stolen, .end
std::string text(const std::vector<core::TraceEvent>& events) {
  std::string out;
  for (const core::TraceEvent& event : events) {
    out += out.empty() ? "" : " ";
    switch (event.kind()) {
      case TraceEventKind::entry:
        out += '+';
        break;
      case TraceEventKind::ret:
        out += '-';
        break;
      case TraceEventKind::tail:
        out += '>';
        break;
      case TraceEventKind::resumed:
        out += '^';
        break;
      case TraceEventKind::stack:
        out += '#';
        break;
      case TraceEventKind::stolen:
        out += '~';
        continue;
      case TraceEventKind::end:
        out += '.';
        continue;
      default:
        out += '?';
        break;
    }
    out += std::to_string(event.function);
  }
  return out;
}

ThreadTrace trace_with(const TraceLimits& limits) {
  ThreadTrace trace({1, 1}, {1, 1}, limits);
  if (!trace.is_on_known_stack(kSp)) {
    trace.use_stack(kStack, true);
  }
  return trace;
}

TEST(ThreadTrace, writes_calls_in_their_order) {
  ThreadTrace trace = trace_with({});
  trace.enter(1, kSp, at(0));
  trace.enter(2, kSp - 32, at(1));
  trace.leave(2, false, kSp - 32, at(2));
  trace.jump(1, false, kSp, at(3));
  trace.enter(3, kSp, at(4));
  trace.leave(3, false, kSp, at(5));
  trace.finish(TraceEventKind::end, at(6));
  const auto taken = trace.take();
  EXPECT_EQ(text(taken.events), "+1 +2 -2 >1 +3 -3 .");
  EXPECT_EQ(taken.first, 0U);
  EXPECT_EQ(taken.lost, 0U);
  EXPECT_EQ(taken.events[1].ticks, 1000U);
  EXPECT_EQ(core::sp_distance(taken.events[0].sp(), taken.events[1].sp()), 4);
  EXPECT_FALSE(trace.has_news());
}

TEST(ThreadTrace, lets_the_innermost_function_return_from_its_part) {
  ThreadTrace trace = trace_with({});
  trace.enter(1, kSp, at(0));
  trace.leave(7, true, kSp, at(1));
  EXPECT_EQ(text(trace.take().events), "+1 -1");
}

TEST(ThreadTrace, writes_returns_of_what_was_entered_before) {
  ThreadTrace trace = trace_with({});
  trace.leave(4, false, kSp, at(0));
  EXPECT_EQ(text(trace.take().events), "-4");
}

TEST(ThreadTrace, writes_what_was_open_before_once_and_never_calls_it_short) {
  TraceLimits limits;
  limits.min_duration = microseconds(5);
  ThreadTrace trace = trace_with(limits);
  trace.open(1, kSp, at(0), {});
  trace.open(2, kSp - 32, at(0), {});
  trace.enter(3, kSp - 64, at(1));
  trace.open(1, kSp, at(1), {});  // told again
  trace.leave(3, false, kSp - 64, at(1));
  trace.add_stolen(microseconds(3));  // as much as has passed, and more
  trace.leave(2, false, kSp - 32, at(2));
  const auto taken = trace.take();
  EXPECT_EQ(text(taken.events), "?1 ?2 ~ -2");
  EXPECT_EQ(taken.events.front().kind(), TraceEventKind::open);
  trace.clear(at(3));
  trace.leave(1, false, kSp, at(4));
  EXPECT_EQ(text(trace.take().events), "~ ?0 -1");
}

TEST(ThreadTrace, leaves_short_calls_out_with_their_callees) {
  TraceLimits limits;
  limits.min_duration = microseconds(5);
  ThreadTrace trace = trace_with(limits);
  trace.enter(1, kSp, at(0));
  trace.enter(2, kSp - 32, at(1));
  trace.enter(3, kSp - 64, at(2));
  trace.leave(3, false, kSp - 64, at(3));
  trace.leave(2, false, kSp - 32, at(4));
  trace.enter(4, kSp - 32, at(10));
  trace.leave(4, false, kSp - 32, at(15));
  trace.leave(1, false, kSp, at(20));
  EXPECT_EQ(text(trace.take().events), "+1 +4 -4 -1");
}

TEST(ThreadTrace, takes_stolen_time_off_before_it_calls_a_call_short) {
  TraceLimits limits;
  limits.min_duration = microseconds(5);
  ThreadTrace trace = trace_with(limits);
  trace.enter(1, kSp, at(0));
  trace.add_stolen(microseconds(7));
  trace.leave(1, false, kSp, at(10));
  EXPECT_EQ(text(trace.take().events), "");
  trace.enter(1, kSp, at(20));
  trace.add_stolen(microseconds(4));
  trace.leave(1, false, kSp, at(30));
  EXPECT_EQ(text(trace.take().events), "~ +1 ~ -1");
}

TEST(ThreadTrace, leaves_callers_out_too_though_time_was_stolen_between_events) {
  TraceLimits limits;
  limits.min_duration = microseconds(100);
  ThreadTrace trace = trace_with(limits);
  for (int call = 0; call < 3; ++call) {
    trace.add_stolen(microseconds(2));
    trace.enter(1, kSp, at(10 * call));
    trace.add_stolen(microseconds(2));
    trace.enter(2, kSp - 32, at(10 * call + 3));
    trace.add_stolen(microseconds(2));
    trace.leave(2, false, kSp - 32, at(10 * call + 6));
    trace.add_stolen(microseconds(2));
    trace.leave(1, false, kSp, at(10 * call + 9));
  }
  EXPECT_EQ(text(trace.take().events), "");
}

TEST(ThreadTrace, has_a_stop_behind_what_came_before_it_and_is_noted_later) {
  ThreadTrace trace = trace_with({});
  trace.enter(1, kSp, at(0));
  trace.add_stolen(microseconds(7), at(5));
  trace.leave(1, false, kSp, at(3));
  trace.enter(2, kSp, at(15));
  EXPECT_EQ(text(trace.take().events), "+1 -1 ~ +2");
}

TEST(ThreadTrace, writes_every_call_without_a_minimum_duration) {
  ThreadTrace trace = trace_with({});
  trace.enter(1, kSp, at(0));
  trace.add_stolen(microseconds(7));  // more than there was
  trace.leave(1, false, kSp, at(3));
  EXPECT_EQ(text(trace.take().events), "+1 ~ -1");
}

TEST(ThreadTrace, leaves_deep_calls_out) {
  TraceLimits limits;
  limits.max_depth = 1;
  ThreadTrace trace = trace_with(limits);
  trace.enter(1, kSp, at(0));
  trace.enter(2, kSp - 32, at(1));
  trace.leave(2, false, kSp - 32, at(2));
  trace.leave(1, false, kSp, at(3));
  EXPECT_EQ(text(trace.take().events), "+1 -1");
}

TEST(ThreadTrace, keeps_the_newest_and_says_how_many_are_lost) {
  TraceLimits limits;
  limits.when_full = core::WhenFull::keep;
  limits.buffer = 4;
  ThreadTrace trace = trace_with(limits);
  for (std::uint32_t call = 0; call < 50; ++call) {
    trace.enter(call, kSp, at(0));
    trace.leave(call, false, kSp, at(1));
  }
  const auto taken = trace.take();
  EXPECT_EQ(text(taken.events), "#0 +48 -48 +49 -49");
  EXPECT_EQ(taken.first, 96U);
  EXPECT_EQ(taken.lost, 96U);
}

TEST(ThreadTrace, discards_what_finds_no_room) {
  TraceLimits limits;
  limits.when_full = core::WhenFull::discard;
  limits.buffer = 3;
  ThreadTrace trace = trace_with(limits);
  for (std::uint32_t call = 0; call < 5; ++call) {
    trace.enter(call, kSp, at(0));
    trace.leave(call, false, kSp, at(1));
  }
  const auto taken = trace.take();
  EXPECT_EQ(text(taken.events), "+0 -0 +1");
  EXPECT_EQ(taken.lost, 0U);
  ASSERT_TRUE(trace.has_news());
  const auto behind = trace.take();
  EXPECT_TRUE(behind.events.empty());
  EXPECT_EQ(behind.first, 10U);
  EXPECT_EQ(behind.lost, 7U);
}

/// Calls 1, 2 and 3 with events that a ring has lost between them.
ThreadTrace trace_with_holes(const TraceLimits& limits) {
  ThreadTrace trace = trace_with(limits);
  for (std::uint32_t call = 1; call <= 3; ++call) {
    trace.enter(call, kSp, at(0));
    trace.leave(call, false, kSp, at(1));
    trace.lose(10 * call);
    trace.lose(1);
  }
  return trace;
}

TEST(ThreadTrace, tells_where_events_of_a_ring_are_missing) {
  for (const auto when_full :
       {core::WhenFull::flush, core::WhenFull::keep, core::WhenFull::discard}) {
    TraceLimits limits;
    limits.when_full = when_full;
    ThreadTrace trace = trace_with_holes(limits);
    auto taken = trace.take();
    EXPECT_EQ(text(taken.events), "+1 -1");
    EXPECT_EQ(taken.lost, 0U);
    taken = trace.take();
    EXPECT_EQ(text(taken.events), "#0 +2 -2");
    EXPECT_EQ(taken.first, 13U);
    EXPECT_EQ(taken.lost, 11U);
    taken = trace.take();
    EXPECT_EQ(text(taken.events), "#0 +3 -3");
    EXPECT_EQ(taken.first, 16U + 21U);
    EXPECT_EQ(taken.lost, 21U);
    ASSERT_TRUE(trace.has_news());
    taken = trace.take();
    EXPECT_TRUE(taken.events.empty());
    EXPECT_EQ(taken.lost, 31U);
    EXPECT_FALSE(trace.has_news());
  }
}

TEST(ThreadTrace, keeps_the_newest_on_both_sides_of_a_hole) {
  TraceLimits limits;
  limits.when_full = core::WhenFull::keep;
  limits.buffer = 3;
  ThreadTrace trace = trace_with_holes(limits);
  auto taken = trace.take();
  EXPECT_EQ(text(taken.events), "#0 -2");
  EXPECT_EQ(taken.lost, 2U + 11U + 1U);
  taken = trace.take();
  EXPECT_EQ(text(taken.events), "#0 +3 -3");
  EXPECT_EQ(taken.lost, 21U);
}

TEST(ThreadTrace, does_not_take_a_call_for_short_in_which_events_are_missing) {
  TraceLimits limits;
  limits.min_duration = microseconds(5);
  ThreadTrace trace = trace_with(limits);
  trace.enter(1, kSp, at(0));
  trace.lose(2);
  trace.leave(1, false, kSp, at(1));
  EXPECT_EQ(text(trace.take().events), "+1");
  EXPECT_EQ(text(trace.take().events), "#0 -1");
}

TEST(ThreadTrace, forgets_short_calls_around_events_that_found_no_room) {
  TraceLimits limits;
  limits.min_duration = microseconds(5);
  limits.when_full = core::WhenFull::discard;
  limits.buffer = 2;
  ThreadTrace trace = trace_with(limits);
  trace.enter(1, kSp, at(0));
  trace.enter(2, kSp - 32, at(0));
  trace.enter(3, kSp - 64, at(0));
  trace.leave(3, false, kSp - 64, at(1));
  trace.leave(2, false, kSp - 32, at(2));
  trace.leave(1, false, kSp, at(3));
  const auto taken = trace.take();
  EXPECT_TRUE(taken.events.empty());
  EXPECT_EQ(taken.lost, 2U);
}

TEST(ThreadTrace, says_on_which_stack_it_goes_on_after_a_loss) {
  constexpr core::AddressRange kOther{Address{0x1000'0000}, Address{0x1001'0000}};
  TraceLimits limits;
  limits.when_full = core::WhenFull::keep;
  limits.buffer = 1;
  ThreadTrace trace = trace_with(limits);
  ASSERT_FALSE(trace.is_on_known_stack(kOther.end - 64));
  trace.use_stack(kOther, false);
  trace.enter(2, kOther.end - 64, at(1));
  EXPECT_EQ(text(trace.take().events), "#1 +2");
  ASSERT_TRUE(trace.is_on_known_stack(kSp));
  for (std::uint32_t call = 5; call < 9; ++call) {
    trace.enter(call, kSp, at(2));
  }
  EXPECT_EQ(text(trace.take().events), "#0 +8");
}

TEST(ThreadTrace, goes_on_after_a_loss_at_the_time_of_its_next_event) {
  TraceLimits limits;
  limits.when_full = core::WhenFull::keep;
  limits.buffer = 1;
  ThreadTrace trace = trace_with(limits);
  trace.enter(1, kSp, at(100));
  trace.add_stolen(microseconds(7));
  trace.enter(2, kSp - 32, at(200));
  const auto stolen = trace.take();
  ASSERT_EQ(text(stolen.events), "~ #0 +2");
  EXPECT_EQ(stolen.events[0].ticks, 7'000U);
  EXPECT_EQ(stolen.events[1].ticks, 200'000U);
  trace.enter(3, kSp - 64, at(300));
  trace.enter(4, kSp - 96, at(400), {}, false, 77);
  const auto value = trace.take();
  ASSERT_EQ(text(value.events), "~ #0 ?1 +4") << "what was stolen is told again";
  EXPECT_EQ(value.events[0].ticks, 7'000U);
  EXPECT_EQ(value.events[1].ticks, 400'000U);
  EXPECT_EQ(value.events[2].ticks, 77U);
}

TEST(ThreadTrace, says_what_was_stolen_before_it_is_on_another_stack) {
  constexpr core::AddressRange kOther{Address{0x1000'0000}, Address{0x1001'0000}};
  ThreadTrace trace = trace_with({});
  trace.enter(1, kSp, at(0));
  trace.add_stolen(microseconds(7));
  ASSERT_FALSE(trace.is_on_known_stack(kOther.end - 64));
  trace.use_stack(kOther, false);
  trace.enter(2, kOther.end - 64, at(10));
  EXPECT_EQ(text(trace.take().events), "+1 ~ #1 +2");
}

TEST(ThreadTrace, says_once_that_a_function_ends_that_is_open) {
  ThreadTrace trace = trace_with({});
  trace.enter(1, kSp, at(0));
  trace.enter(2, kSp - 32, at(1));
  trace.end_function(1, at(2));
  trace.end_function(1, at(3));
  trace.end_function(9, at(3));
  trace.leave(2, false, kSp - 32, at(4));
  EXPECT_EQ(text(trace.take().events), "+1 +2 ?1 -2");
}

TEST(ThreadTrace, says_once_that_it_is_off) {
  ThreadTrace trace = trace_with({});
  trace.enter(1, kSp, at(0));
  trace.finish(TraceEventKind::off, at(1));
  trace.finish(TraceEventKind::off, at(2));
  trace.finish(TraceEventKind::end, at(3));
  EXPECT_EQ(text(trace.take().events), "+1 ?0");
}

TEST(ThreadTrace, tells_stacks_apart) {
  constexpr core::AddressRange kOther{Address{0x1000'0000}, Address{0x1001'0000}};
  ThreadTrace trace = trace_with({});
  trace.enter(1, kSp, at(0));
  ASSERT_FALSE(trace.is_on_known_stack(kOther.end - 64));
  trace.use_stack(kOther, false);
  trace.enter(2, kOther.end - 64, at(1));
  ASSERT_TRUE(trace.is_on_known_stack(kSp));
  trace.leave(1, false, kSp, at(2));
  ASSERT_TRUE(trace.is_on_known_stack(kOther.end - 64));
  trace.leave(2, false, kOther.end - 64, at(3));
  EXPECT_EQ(text(trace.take().events), "+1 #1 +2 #0 -1 #1 -2");
}

TEST(ThreadTrace, tells_that_a_handler_has_left_its_stack_and_not_returned) {
  constexpr core::AddressRange kOther{Address{0x1000'0000}, Address{0x1001'0000}};
  ThreadTrace trace = trace_with({});
  trace.enter(1, kSp, at(0));
  for (const bool returns : {false, true}) {
    if (!trace.is_on_known_stack(kOther.end - 64)) {
      trace.use_stack(kOther, false);
    }
    ASSERT_TRUE(trace.is_elsewhere());
    trace.expect_handler();
    trace.enter(2, kOther.end - 64, at(1));
    trace.enter(3, kOther.end - 96, at(2));
    if (returns) {
      trace.leave(3, false, kOther.end - 96, at(3));
      trace.leave(2, false, kOther.end - 64, at(4));
    }
    ASSERT_TRUE(trace.is_on_known_stack(kSp));
    trace.enter(4, kSp - 32, at(5));
    trace.leave(4, false, kSp - 32, at(6));
    const auto events = trace.take().events;
    EXPECT_EQ(text(events), returns ? "#1 +2 +3 -3 -2 #0 +4 -4" : "+1 #1 +2 +3 ^2 #0 +4 -4");
    EXPECT_TRUE(returns || events[4].ticks == 5'000U);
    EXPECT_TRUE(returns || core::sp_distance(events[4].sp(), events[2].sp()) == 1);
  }
}

TEST(ThreadTrace, leaves_short_calls_out_behind_a_handler_that_has_left_its_stack) {
  constexpr core::AddressRange kOther{Address{0x1000'0000}, Address{0x1001'0000}};
  TraceLimits limits;
  limits.min_duration = microseconds(5);
  ThreadTrace trace = trace_with(limits);
  trace.enter(1, kSp, at(0));
  ASSERT_FALSE(trace.is_on_known_stack(kOther.end - 64));
  trace.use_stack(kOther, false);
  trace.expect_handler();
  trace.enter(2, kOther.end - 64, at(1));
  ASSERT_TRUE(trace.is_on_known_stack(kSp));
  trace.enter(3, kSp - 32, at(2));
  trace.leave(3, false, kSp - 32, at(3));
  trace.leave(1, false, kSp, at(9));
  EXPECT_EQ(text(trace.take().events), "+1 #1 +2 ^2 #0 -1");
}

TEST(ThreadTrace, takes_a_neighbour_for_another_stack) {
  constexpr core::AddressRange kLower{Address{0x1000'0000}, Address{0x1001'0000}};
  constexpr core::AddressRange kBoth{Address{0x0FFF'0000}, Address{0x1001'0000}};
  ThreadTrace trace = trace_with({});
  ASSERT_FALSE(trace.is_on_known_stack(kLower.begin));
  trace.use_stack(kLower, false);
  trace.enter(1, kLower.end - 64, at(0));
  ASSERT_FALSE(trace.is_on_known_stack(kBoth.begin));
  trace.use_stack(kBoth, false);
  trace.enter(2, kBoth.begin + 64, at(1));
  EXPECT_EQ(text(trace.take().events), "#1 +1 #2 +2");
}

TEST(ThreadTrace, knows_a_stack_that_has_grown) {
  ThreadTrace trace = trace_with({});
  trace.enter(1, kSp, at(0));
  const Address deeper = kStack.begin - 4096;
  ASSERT_FALSE(trace.is_on_known_stack(deeper));
  trace.use_stack({deeper, kStack.end}, true);
  trace.enter(2, deeper, at(1));
  EXPECT_EQ(text(trace.take().events), "+1 +2");
}

TEST(ThreadTrace, says_where_calls_return_to_instead_of_when_they_were) {
  TraceLimits limits;
  limits.has_sites = true;
  ThreadTrace trace = trace_with(limits);
  trace.add_stolen(microseconds(3));
  trace.enter(1, kSp, at(9), Address{0x4321});
  const auto taken = trace.take();
  ASSERT_EQ(text(taken.events), "+1");
  EXPECT_EQ(taken.events[0].ticks, 0x4321U);
}

TEST(ThreadTrace, is_inside_a_function_that_has_moved_its_stack_pointer) {
  ThreadTrace trace = trace_with({});
  trace.enter(1, kSp, at(0));
  EXPECT_TRUE(trace.is_inside(1, kSp - 16));
  EXPECT_FALSE(trace.is_inside(1, kSp));
  EXPECT_FALSE(trace.is_inside(2, kSp - 16));
}

}  // namespace
}  // namespace sp::supervisor
