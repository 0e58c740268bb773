#include "commands/run_files/trace_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "unit/profiler/temporary_directory.h"
#include "unit/profiler/trace/trace_bytes.h"

namespace sp::run_files {
namespace {

using profiler::test::entry;
using profiler::test::kInner;
using profiler::test::kMain;
using profiler::test::ret;
using profiler::test::TraceBytes;

/// A trace.sp of main, which calls inner, and what it says of its run.
class TraceFileTest : public testing::Test {
 protected:
  TraceFileTest() {
    bytes_.tables();
    bytes_.events(0, {entry(0, kMain, 0x700), entry(10, kInner, 0x600), ret(20, kInner, 0x600),
                      ret(100, kMain, 0x700)});
  }
  void end_inner_at(std::int64_t ns) {
    EXPECT_TRUE(bytes_.writer.add_function(
        kInner, {.module = 7, .offset = 0x1200, .name = "inner", .until_ns = ns}));
  }
  /// `facts`: members of "trace" in run.json.
  TraceFile opened(const std::string& facts) {
    EXPECT_TRUE(bytes_.writer.write_facts("{\"trace\": {" + facts + "}}"));
    std::ofstream(directory_.path() + "/trace.sp") << bytes_.finish();
    auto trace = open_trace(directory_.path());
    EXPECT_TRUE(trace);
    return std::move(*trace);
  }
  std::vector<std::string> notes(const std::string& facts) {
    TraceFile trace = opened(facts);
    const profiler::TraceWalk walk(trace.reader, {});
    return notes_of_trace(trace, walk);
  }

  profiler::test::TemporaryDirectory directory_;
  TraceBytes bytes_;
};

using Notes = std::vector<std::string>;

TEST_F(TraceFileTest, has_nothing_to_say_of_a_whole_trace) {
  EXPECT_EQ(notes("\"lost\": 0, \"functions_too_hot\": 0"), Notes{});
}

TEST_F(TraceFileTest, says_which_functions_were_traced_for_a_part_of_the_run) {
  end_inner_at(2'742'000'000);
  EXPECT_EQ(notes("\"functions_too_hot\": 1"),
            Notes{"1 function was traced for a part of the run only, and later calls are missing "
                  "(symbols.tsv says why): inner until 2.742 s"});
}

TEST_F(TraceFileTest, says_it_of_functions_that_have_no_calls_in_this_part) {
  end_inner_at(2'742'000'000);
  EXPECT_EQ(notes("\"functions_too_hot\": 1, \"functions_learned\": 2"),
            Notes{"3 functions were traced for a part of the run only, and later calls are missing "
                  "(symbols.tsv says why): inner until 2.742 s and 2 more"});
}

TEST_F(TraceFileTest, says_that_it_was_off_or_cleared) {
  EXPECT_EQ(notes("\"cleared\": 7, \"times_off\": 2"),
            (Notes{"7 events were cleared: earlier calls are missing",
                   "the trace was off 2 times: calls are missing"}));
}

TEST_F(TraceFileTest, has_lost_what_the_run_says_although_no_event_shows_it) {
  const std::string facts = "\"lost\": 7507770, \"size_limit_reached\": true";
  TraceFile trace = opened(facts);
  const profiler::TraceWalk walk(trace.reader, {});
  EXPECT_EQ(walk.skipped().lost, 0U);
  EXPECT_EQ(lost_events(trace, walk), 7'507'770U);
  EXPECT_TRUE(misses_some(trace, walk));
  EXPECT_EQ(notes_of_trace(trace, walk),
            Notes{"7,507,770 events were lost while recording: the trace has reached --trace-size, "
                  "and all later calls are missing, those of threads that began later, too"});
}

TEST_F(TraceFileTest, leaves_out_the_short_calls_that_were_not_wanted) {
  TraceFile trace = opened("\"min_duration_ns\": 5000000, \"max_depth\": 3");
  EXPECT_EQ(view_of(trace, {}).least_ns, 5'000'000);
  const profiler::TraceWalk walk(trace.reader, {});
  EXPECT_EQ(notes_of_trace(trace, walk),
            (Notes{"calls shorter than 5.00 ms are left out (--min-duration)",
                   "calls deeper than 3 are left out (--max-depth)"}));
}

TEST(TraceFacts, are_unknown_without_a_run_json) {
  EXPECT_EQ(parse_trace_facts("").lost, std::nullopt);
  EXPECT_EQ(parse_trace_facts("[1]").lost, std::nullopt);
  EXPECT_EQ(parse_trace_facts("{\"trace\": null}").lost, std::nullopt);
  EXPECT_EQ(parse_trace_facts("{\"trace\": {\"lost\": \"7\"}}").lost, 0U);
}

}  // namespace
}  // namespace sp::run_files
