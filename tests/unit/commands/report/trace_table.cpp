#include "commands/report/trace_table.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "commands/report/call_graph.h"
#include "commands/report/trace_text.h"
#include "profiler/trace/trace_walk.h"
#include "unit/profiler/trace/trace_bytes.h"

namespace sp::report {
namespace {

using profiler::TraceReader;
using profiler::TraceWalk;
using profiler::test::entry;
using profiler::test::kInner;
using profiler::test::kMain;
using profiler::test::kOuter;
using profiler::test::ret;
using profiler::test::traced;

/// main 0-100 calls outer 10-50, which calls itself 20-40; inner is thrown out of at 70.
std::string recursive_trace() {
  profiler::test::TraceBytes trace;
  trace.tables();
  trace.events(0,
               {entry(0, kMain, 0x700), entry(10, kOuter, 0x600), entry(20, kOuter, 0x500),
                ret(40, kOuter, 0x500), ret(50, kOuter, 0x600), entry(60, kInner, 0x600),
                traced(core::TraceEventKind::resumed, 70, kMain, 0x680), ret(100, kMain, 0x700)});
  trace.events(1, {entry(5, kInner, 0x200), ret(6, kInner, 0x200), entry(7, kInner, 0x200)});
  return trace.finish();
}

TraceTable table_of(const std::string& bytes, cli::Sort sort, double limit, bool by_thread = false,
                    bool misses_some = false) {
  std::istringstream in(bytes);
  auto reader = TraceReader::open(in, "trace.sp");
  EXPECT_TRUE(reader);
  TraceWalk walk(*reader, {});
  TraceSums sums(by_thread);
  walk.run(sums);
  return sums.table(*reader, sort, limit, misses_some);
}

TEST(TraceTable, sums_up_the_calls_of_functions) {
  const TraceTable table = table_of(recursive_trace(), cli::Sort::total, 0);
  EXPECT_EQ(table.calls, 6U);
  EXPECT_EQ(table.total_ns, 101'000U);
  ASSERT_EQ(table.rows.size(), 3U);
  const TraceRow& outer = table.rows[1];
  EXPECT_EQ(outer.name, "outer");
  EXPECT_EQ(outer.module, "/bin/demo");
  EXPECT_EQ(outer.source, "/src/demo.c:30");
  EXPECT_EQ(outer.calls, 2U);
  EXPECT_EQ(outer.total_ns, 40'000U) << "the recursion counts once";
  EXPECT_EQ(outer.self_ns, 40'000U);
  EXPECT_EQ(outer.durations.least(), 20'000U);
  EXPECT_EQ(outer.durations.most(), 40'000U);
  const TraceRow& inner = table.rows[2];
  EXPECT_EQ(inner.calls, 3U);
  EXPECT_EQ(inner.total_ns, 11'000U);
  EXPECT_EQ(inner.durations.count(), 2U) << "the one that is open is not among them";
  EXPECT_EQ(inner.closings, (std::array<std::uint64_t, 6>{1, 1, 0, 0, 1, 0}));
}

TEST(TraceTable, has_no_durations_of_calls_that_were_open_where_events_were_lost) {
  profiler::test::TraceBytes trace;
  trace.tables();
  trace.events(0, {entry(0, kMain, 0x700), entry(1, kInner, 0x600), ret(2, kInner, 0x600),
                   entry(3, kInner, 0x600)});
  trace.events(0, {ret(93, kInner, 0x600), entry(94, kInner, 0x600), ret(95, kInner, 0x600)}, 50);
  const TraceTable table = table_of(trace.finish(), cli::Sort::calls, 0);
  const TraceRow& inner = table.rows.at(0);
  EXPECT_EQ(inner.name, "inner");
  EXPECT_EQ(inner.closings, (std::array<std::uint64_t, 6>{2, 0, 0, 0, 0, 1}));
  EXPECT_EQ(inner.durations.count(), 2U);
  EXPECT_EQ(inner.durations.most(), 1'000U);
}

/// inner was too hot after 2.742 s; a run that was attached to.
std::string partly_traced() {
  profiler::test::TraceBytes trace;
  trace.tables();
  EXPECT_TRUE(trace.writer.add_function(
      kMain, {.module = 7, .offset = 0x1000, .name = "main", .since_ns = 0}));
  EXPECT_TRUE(trace.writer.add_function(
      kInner,
      {.module = 7, .offset = 0x1200, .name = "inner", .since_ns = 0, .until_ns = 2'742'900'000}));
  trace.events(0, {entry(0, kMain, 0x700), entry(10, kInner, 0x600), ret(20, kInner, 0x600),
                   ret(100, kMain, 0x700)});
  return trace.finish();
}

TEST(TraceTable, says_for_which_part_of_the_run_it_has_the_calls_of_a_function) {
  const TraceTable table = table_of(partly_traced(), cli::Sort::total, 0);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].kind, "exact-since:0.000");
  EXPECT_EQ(table.rows[1].kind, "exact-since:0.000,until:2.742");
  const TraceTable threads = table_of(partly_traced(), cli::Sort::total, 0, true);
  EXPECT_EQ(threads.rows.at(0).kind, "mixed");
  const TraceTable holes = table_of(partly_traced(), cli::Sort::total, 0, false, true);
  EXPECT_EQ(holes.rows.at(1).kind, "mixed") << "nobody knows which calls are missing";
  EXPECT_EQ(table_of(recursive_trace(), cli::Sort::self, 0).rows.at(0).kind, "exact");
}

TEST(TraceTable, is_sorted_and_cut) {
  EXPECT_EQ(table_of(recursive_trace(), cli::Sort::calls, 0).rows[0].name, "inner");
  EXPECT_EQ(table_of(recursive_trace(), cli::Sort::max, 0).rows[0].name, "main");
  EXPECT_EQ(table_of(recursive_trace(), cli::Sort::self, 0).rows[0].name, "main");
  const TraceTable cut = table_of(recursive_trace(), cli::Sort::self, 20);
  EXPECT_EQ(cut.rows.size(), 2U);
  EXPECT_EQ(cut.left_out, 1U);
}

TEST(TraceTable, may_be_of_threads) {
  const TraceTable table = table_of(recursive_trace(), cli::Sort::total, 0, true);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].name, "demo (4711)");
  EXPECT_EQ(table.rows[0].module, "pid 4711");
  EXPECT_EQ(table.rows[0].calls, 4U);
  EXPECT_EQ(table.rows[0].total_ns, 100'000U);
  EXPECT_EQ(table.rows[0].self_ns, 100'000U);
  EXPECT_EQ(table.rows[1].calls, 2U);
}

TEST(TraceText, has_a_line_for_each_row) {
  std::ostringstream out;
  write_trace_text(out, {"demo", "functions", false},
                   table_of(recursive_trace(), cli::Sort::self, 0));
  const std::string text = out.str();
  EXPECT_TRUE(text.starts_with("demo: traced, 6 calls; times without superprofiler's stops"))
      << text;
  EXPECT_NE(text.find("             3 exact               11.000 us   11.000 us    1.000 us    "
                      "5.500 us    1.023 us   "
                      "10.000 us   10.000 us  inner "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("unwound 1, at-end 1\n"), std::string::npos) << text;
}

TEST(TraceText, is_json_for_programs) {
  std::ostringstream out;
  write_trace_json(out, {"demo", "functions", true},
                   table_of(recursive_trace(), cli::Sort::self, 0));
  EXPECT_NE(out.str().find("\"entered-before\": 0"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("\"across-loss\": 0"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("\"raw_times\": true"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("\"kind\": \"exact\""), std::string::npos) << out.str();
}

TEST(DurationText, has_three_decimals_and_a_unit) {
  EXPECT_EQ(duration_text(0), "0 ns");
  EXPECT_EQ(duration_text(999), "999 ns");
  EXPECT_EQ(duration_text(1'234), "1.234 us");
  EXPECT_EQ(duration_text(12'345'678), "12.346 ms");
  EXPECT_EQ(duration_text(90'000'000'000), "90.000 s");
}

TEST(DurationHistogram, is_right_up_to_a_sixteenth) {
  DurationHistogram durations;
  EXPECT_EQ(durations.percentile(99), 0U);
  for (std::uint64_t ns = 1; ns <= 10'000; ++ns) {
    durations.add(ns);
  }
  EXPECT_EQ(durations.count(), 10'000U);
  for (const std::uint64_t percent : {1, 50, 99}) {
    const double truth = static_cast<double>(percent) * 100;
    EXPECT_GE(static_cast<double>(durations.percentile(percent)), truth);
    EXPECT_LE(static_cast<double>(durations.percentile(percent)), truth * 1.0625);
  }
  EXPECT_EQ(durations.percentile(100), 10'000U);
  durations.add(~std::uint64_t{0});
  EXPECT_EQ(durations.most(), ~std::uint64_t{0});
  EXPECT_EQ(durations.percentile(100), ~std::uint64_t{0});
}

TEST(CallGraphText, is_indented_as_the_calls_are_nested) {
  std::istringstream in(profiler::test::small_trace());
  auto reader = TraceReader::open(in, "trace.sp");
  ASSERT_TRUE(reader);
  TraceWalk walk(*reader, {});
  const profiler::TraceTracks tracks = name_tracks(*reader, walk.tracks());
  std::ostringstream out;
  CallGraphText graph(out, *reader, tracks);
  graph.write_heading();
  walk.run(graph);
  EXPECT_EQ(out.str(),
            R"(#     DURATION        TID   FUNCTION
               [    4711] | main() {
               [    4712] | outer() {
          0 ns [    4712] |   inner(); /* entered-before */
               [    4711] |   outer() {
      5.000 us [    4712] | } /* outer(), entered-before */
               [    4711] |     inner() {
      2.000 us [    4712] | inner();
     10.000 us [    4711] |     } /* inner(), unwound */
     20.000 us [    4711] |   } /* outer(), unwound */
     10.000 us [    4711] |   op;"<'\ )"
            "\xEF\xBF\xBD(); /* tail */"
            R"(
     10.000 us [    4711] |   demo+0x1500();
      3.000 us [16777218] | inner();
     10.000 us [    4711] |   outer();
          0 ns [    4711] |   inner(); /* at-end */
     85.000 us [    4711] | } /* main(), at-end */
)");
}

}  // namespace
}  // namespace sp::report
