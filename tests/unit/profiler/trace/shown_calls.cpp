#include "profiler/trace/shown_calls.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "profiler/trace/trace_walk.h"
#include "unit/profiler/trace/trace_bytes.h"

namespace sp::profiler {
namespace {

using test::entry;
using test::kInner;
using test::kMain;
using test::kOuter;
using test::ret;

/// "+0@10" is a begin of function 0 at 10 us, "-0@20" its end; "!" stands behind those at-end.
class Marks final : public CallVisitor {
 public:
  void begin(const TracedCall& call) override {
    text += fmt::format("+{}@{} ", call.function, call.begin_ns / 1000);
    ++open;
  }
  void end(const TracedCall& call) override {
    text += fmt::format("-{}@{}{} ", call.function, call.end_ns / 1000,
                        call.closing == TraceClosing::at_end ? "!" : "");
    --open;
  }
  std::string text;
  int open = 0;
};

/// main 10-100: outer 20-60 with inner 30-31 and inner 40-55, outer 70-71; thread 1: main 15-90.
std::string two_threads() {
  test::TraceBytes trace;
  trace.tables();
  trace.events(0, {entry(10, kMain, 0x700), entry(20, kOuter, 0x600), entry(30, kInner, 0x500),
                   ret(31, kInner, 0x500), entry(40, kInner, 0x500), ret(55, kInner, 0x500),
                   ret(60, kOuter, 0x600), entry(70, kOuter, 0x600), ret(71, kOuter, 0x600),
                   ret(100, kMain, 0x700)});
  trace.events(1, {entry(15, kMain, 0x700), ret(90, kMain, 0x700)});
  return trace.finish();
}

std::string shown(const TraceView& view, bool* is_cut = nullptr) {
  std::istringstream in(two_threads());
  auto reader = TraceReader::open(in, "trace.sp");
  EXPECT_TRUE(reader);
  TraceWalk walk(*reader, view);
  Marks marks;
  walk.run(marks);
  EXPECT_EQ(marks.open, 0);
  if (is_cut != nullptr) {
    *is_cut = walk.is_cut();
  }
  return marks.text;
}

constexpr std::int64_t us(std::int64_t number) { return number * 1000; }

TEST(TraceWalk, goes_through_all_threads_in_the_order_of_time) {
  EXPECT_EQ(shown({}), "+0@10 +0@15 +1@20 +2@30 -2@31 +2@40 -2@55 -1@60 +1@70 -1@71 -0@90 -0@100 ");
}

TEST(ShownCalls, begin_and_end_at_the_cuts) {
  EXPECT_EQ(shown({.from_ns = us(50)}),
            "+0@50 +1@50 +2@50 -2@55 -1@60 +1@70 -1@71 +0@50 -0@90 -0@100 ");
  EXPECT_EQ(shown({.to_ns = us(50)}),
            "+0@10 +0@15 +1@20 +2@30 -2@31 +2@40 -2@50! -1@50! -0@50! -0@50! ");
  EXPECT_EQ(shown({.from_ns = us(42), .to_ns = us(58)}),
            "+0@42 +1@42 +2@42 -2@55 -1@58! +0@42 -0@58! -0@58! ");
  EXPECT_EQ(shown({.from_ns = us(300)}), "");
}

TEST(ShownCalls, leave_out_short_calls) {
  EXPECT_EQ(shown({.least_ns = us(2)}), "+0@10 +0@15 +1@20 +2@40 -2@55 -1@60 -0@90 -0@100 ");
}

/// The calls of a trace of one thread.
std::string shown_of(const std::vector<core::TraceEvent>& events, const TraceView& view,
                     std::int64_t start_ns = 0) {
  test::TraceBytes trace({.monotonic_ns = start_ns, .cpu = ContainerHeader::Cpu::x86_64});
  trace.tables();
  trace.events(0, events);
  std::istringstream in(trace.finish());
  auto reader = TraceReader::open(in, "trace.sp");
  EXPECT_TRUE(reader);
  TraceWalk walk(*reader, view);
  Marks marks;
  walk.run(marks);
  return marks.text;
}

TEST(ShownCalls, are_not_left_out_if_nobody_knows_how_long_they_were) {
  const std::vector<core::TraceEvent> events = {ret(2, kInner, 0x500),   ret(3, kOuter, 0x600),
                                                entry(10, kMain, 0x600), entry(11, kInner, 0x500),
                                                ret(12, kInner, 0x500),  entry(50, kInner, 0x500)};
  EXPECT_EQ(shown_of(events, {.least_ns = us(2)}),
            "+1@2 +2@2 -2@2 -1@3 +0@10 +2@50 -2@50! -0@50! ");
}

TEST(ShownCalls, give_their_time_to_the_caller_when_they_are_left_out) {
  class Own final : public CallVisitor {
   public:
    void begin(const TracedCall& call) override { parents.push_back(call.parent); }
    void end(const TracedCall& call) override { self_ns.push_back(call.self_ns); }
    std::vector<std::uint32_t> parents;
    std::vector<std::int64_t> self_ns;
  };
  test::TraceBytes trace;
  trace.tables();
  trace.events(0, {entry(0, kMain, 0x600), entry(10, kInner, 0x500), ret(11, kInner, 0x500),
                   entry(20, kOuter, 0x500), ret(50, kOuter, 0x500), ret(100, kMain, 0x600)});
  std::istringstream in(trace.finish());
  auto reader = TraceReader::open(in, "trace.sp");
  ASSERT_TRUE(reader);
  TraceWalk walk(*reader, {.least_ns = us(2)});
  Own own;
  walk.run(own);
  EXPECT_EQ(own.parents, (std::vector<std::uint32_t>{TracedCall::kNoFunction, kMain}));
  EXPECT_EQ(own.self_ns, (std::vector<std::int64_t>{us(30), us(70)}));
}

TEST(TraceWalk, has_no_times_before_the_trace_begins) {
  EXPECT_EQ(shown_of({entry(10, kMain, 0x600), entry(20, kInner, 0x500), ret(70, kInner, 0x500),
                      ret(80, kMain, 0x600)},
                     {}, us(50)),
            "+0@0 +2@0 -2@20 -0@30 ");
}

TEST(ShownCalls, stop_at_the_limit_and_end_what_has_begun) {
  bool is_cut = false;
  EXPECT_EQ(shown({.limit = 8}, &is_cut), "+0@10 +0@15 +1@20 +2@30 -2@31 -1@40! -0@40! -0@15! ");
  EXPECT_TRUE(is_cut);
  EXPECT_EQ(shown({.limit = 12}, &is_cut), shown({}));
  EXPECT_FALSE(is_cut);
}

TEST(TraceWalk, of_one_track_ends_where_the_limit_of_all_is_reached) {
  std::istringstream in(two_threads());
  auto reader = TraceReader::open(in, "trace.sp");
  ASSERT_TRUE(reader);
  TraceWalk walk(*reader, {.limit = 8});
  Marks marks;
  walk.run_track(0, 0, marks);
  EXPECT_EQ(marks.text, "+0@10 +1@20 +2@30 -2@31 +2@40 -2@40! -1@40! -0@40! ");
}

TEST(TraceWalk, knows_the_stacks_of_threads) {
  std::istringstream in(test::small_trace());
  auto reader = TraceReader::open(in, "trace.sp");
  ASSERT_TRUE(reader);
  const TraceWalk walk(*reader, {});
  const std::set<std::pair<std::uint32_t, std::uint32_t>> expected = {{0, 0}, {0, 1}, {1, 0}};
  EXPECT_EQ(walk.tracks(), expected);
}

}  // namespace
}  // namespace sp::profiler
