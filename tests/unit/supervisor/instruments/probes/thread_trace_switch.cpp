// A thread's events when the trace is switched off and on, or cleared.
#include <gtest/gtest.h>

#include <vector>

#include "supervisor/instruments/probes/thread_trace.h"

namespace sp::supervisor {
namespace {

using core::Address;
using Kinds = std::vector<core::TraceEventKind>;
using enum core::TraceEventKind;
using std::chrono::microseconds;

constexpr Address kSp{0x70FF'0000};

core::TimePoint at(int us) { return core::TimePoint{microseconds(us)}; }

Kinds kinds_in(const ThreadTrace::Taken& taken) {
  Kinds kinds;
  for (const core::TraceEvent& event : taken.events) {
    kinds.push_back(event.kind());
  }
  return kinds;
}

ThreadTrace trace_on_stack(const TraceLimits& limits = {}) {
  ThreadTrace trace({1, 1}, {1, 1}, limits);
  trace.use_stack({Address{0x7000'0000}, Address{0x7100'0000}}, true);
  return trace;
}

TEST(SwitchedThreadTrace, has_nothing_of_the_time_when_it_was_off) {
  ThreadTrace trace = trace_on_stack();
  trace.enter(1, kSp, at(0));
  trace.pause(at(1));
  trace.pause(at(1));
  trace.enter(2, kSp - 32, at(2));
  trace.leave(2, false, kSp - 32, at(3));
  trace.begin(at(4));
  trace.begin(at(4));
  trace.leave(1, false, kSp, at(5));
  const auto taken = trace.take();
  EXPECT_EQ(kinds_in(taken), (Kinds{entry, off, on, ret}));
  EXPECT_EQ(taken.lost, 0U);
}

TEST(SwitchedThreadTrace, has_the_returns_of_calls_that_were_open) {
  ThreadTrace trace = trace_on_stack();
  trace.pause(at(0));
  trace.enter(1, kSp, at(1));
  trace.begin(at(2));
  trace.enter(2, kSp - 32, at(3));
  trace.leave(2, false, kSp - 32, at(4));
  trace.leave(1, false, kSp, at(5));
  EXPECT_EQ(kinds_in(trace.take()), (Kinds{on, entry, ret, ret}));
}

TEST(SwitchedThreadTrace, says_nothing_of_a_thread_that_was_always_off) {
  ThreadTrace trace = trace_on_stack();
  trace.pause(at(0));
  trace.enter(1, kSp, at(1));
  trace.finish(end, at(2));
  EXPECT_FALSE(trace.has_news());
}

TEST(SwitchedThreadTrace, begins_again_when_it_is_cleared) {
  ThreadTrace trace = trace_on_stack();
  trace.enter(1, kSp, at(0));
  trace.enter(2, kSp - 32, at(1));
  (void)trace.take();
  trace.leave(2, false, kSp - 32, at(2));
  trace.clear(at(3));
  trace.leave(1, false, kSp, at(4));
  const auto taken = trace.take();
  EXPECT_EQ(taken.first, 0U);
  EXPECT_EQ(taken.lost, 0U);
  EXPECT_EQ(kinds_in(taken), (Kinds{on, ret}));
}

TEST(SwitchedThreadTrace, tells_when_watched_calls_have_ended) {
  ThreadTrace trace = trace_on_stack();
  trace.enter(1, kSp, at(0), {}, true);
  EXPECT_EQ(trace.depth_of(1, kSp), 0U);
  trace.enter(1, kSp - 32, at(10), {}, true);
  trace.enter(2, kSp - 64, at(20));
  EXPECT_TRUE(trace.take_ended().empty());
  trace.add_stolen(microseconds(5));
  trace.resume(3, kSp - 16, at(30));  // unwinds two
  auto ended = trace.take_ended();
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].took, microseconds(15));
  EXPECT_EQ(ended[0].depth, 2U);
  trace.leave(1, false, kSp, at(100));
  ended = trace.take_ended();
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].took, microseconds(95));
  EXPECT_EQ(ended[0].depth, 1U);
}

}  // namespace
}  // namespace sp::supervisor
