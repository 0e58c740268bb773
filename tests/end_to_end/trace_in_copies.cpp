// --trace: calls of functions that run from copies.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "arch/native.h"
#include "end_to_end/profiled.h"
#include "end_to_end/trace_calls.h"

namespace sp::end_to_end {
namespace {

/// What there was of a run's events, and what found no room.
std::uint64_t events_of(const RunFiles& files) {
  const auto trace = files.run().at("trace");
  return trace.at("events").get<std::uint64_t>() + trace.at("lost").get<std::uint64_t>();
}

class TraceInCopies : public testing::Test {
 protected:
  void SetUp() override {
    if (!arch::Native::kHasCounterSegment) {
      GTEST_SKIP() << "copies write no events on this CPU";
    }
  }

  static constexpr std::uint64_t kCalls = 1'664'079;  // of fib(29)
};

TEST_F(TraceInCopies, counts_each_call_and_tells_of_each_event_that_is_lost) {
  const TempDir directory;
  const auto run =
      profile(directory, {"--trace", "--via", "copy"}, {target("trace_ways"), "fib", "29"});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_EQ(run.files.calls_of("fib"), kCalls);
  EXPECT_GE(events_of(run.files), 2 * kCalls) << run.outcome.text();
  EXPECT_LE(events_of(run.files), 2 * kCalls + kCalls / 10) << run.outcome.text();
  const auto copies = run.files.run().at("probes").at("copies");
  EXPECT_GE(copies.at("functions"), 2) << copies.dump();
  const auto calls = calls_in(directory / "run");
  EXPECT_LE(calls.at("fib").calls, kCalls);
  EXPECT_GT(calls.at("fib").calls, 50'000U);
}

TEST_F(TraceInCopies, is_for_hot_functions_unless_only_breakpoints_are_wanted) {
  const TempDir directory;
  const auto run = profile(directory, {"--trace"}, {target("trace_ways"), "fib", "29"});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  const auto copies = run.files.run().at("probes").at("copies");
  EXPECT_GE(copies.at("functions"), 1) << copies.dump();
  EXPECT_EQ(run.files.calls_of("fib"), kCalls) << run.outcome.text();

  const TempDir other;
  const auto by_breakpoints =
      profile(other, {"--trace", "--via", "int3"}, {target("trace_ways"), "fib", "12"});
  ASSERT_EQ(by_breakpoints.outcome.exit_status(), 0) << by_breakpoints.outcome.text();
  EXPECT_EQ(by_breakpoints.files.run().at("probes").at("copies").at("functions"), 0);
  EXPECT_EQ(by_breakpoints.files.calls_of("fib"), 465U);
}

TEST_F(TraceInCopies, has_all_events_where_threads_wait_for_room) {
  for (const Words& options : {Words{"--trace", "--via", "copy", "--wait-when-full"},
                               Words{"--trace", "-a"}, Words{"--tree", "-a"}}) {
    const TempDir directory;
    const auto run = profile(directory, options, {target("trace_ways"), "fib", "29"});
    ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
    EXPECT_EQ(run.files.run().at("trace").at("lost"), 0) << run.outcome.text();
    EXPECT_EQ(run.files.run().at("trace").at("kind"), "exact") << run.outcome.text();
    EXPECT_EQ(run.files.calls_of("fib"), kCalls);
    if (options[0] == "--trace") {
      const auto calls = calls_in(directory / "run");
      EXPECT_EQ(calls.at("fib").calls, kCalls) << run.outcome.text();
    }
  }
}

TEST_F(TraceInCopies, has_times_that_fit_those_of_breakpoints) {
  const TempDir directory;
  // What has a trigger keeps its breakpoints.
  const auto traced =
      profile(directory, {"--trace", "--wait-when-full", "--trigger", "calls_leaves@on"},
              {target("trace_ways"), "cold-hot"});
  ASSERT_EQ(traced.outcome.exit_status(), 0) << traced.outcome.text();
  const auto copies = traced.files.run().at("probes").at("copies");
  ASSERT_EQ(copies.at("functions"), 1) << "the leaf alone: " << copies.dump();
  const std::string path = directory / "run";
  const Outcome outcome = run({SP_PROGRAM, "convert", path, "-f", "chrome"});
  ASSERT_EQ(outcome.exit_status(), 0) << outcome.text();
  const auto json = nlohmann::json::parse(read_file(path + "/run.trace.json"), nullptr, false);
  std::vector<std::string> open;
  double before = 0;
  int leaves = 0;
  for (const auto& event : json.at("traceEvents")) {
    if (event.at("ph") == "B") {
      const std::string name = event.at("name");
      if (name == "leaf") {
        ++leaves;
        ASSERT_FALSE(open.empty());
        ASSERT_EQ(open.back(), "calls_leaves") << event.dump();
      }
      open.push_back(name);
    } else if (event.at("ph") == "E") {
      ASSERT_FALSE(open.empty());
      open.pop_back();
    } else {
      continue;
    }
    ASSERT_LE(before, event.at("ts").get<double>()) << event.dump();
    before = event.at("ts");
  }
  EXPECT_EQ(leaves, 12'000);
  EXPECT_TRUE(open.empty());
}

TEST_F(TraceInCopies, gives_up_what_costs_more_than_is_allowed) {
  const TempDir directory;
  const auto run =
      profile(directory, {"--trace", "--overhead", "5"}, {target("trace_ways"), "fib", "40"});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_GE(run.files.run().at("trace").at("functions_too_hot"), 1) << run.outcome.text();
  EXPECT_GE(run.files.run().at("probes").at("copies").at("dropped"), 1) << run.outcome.text();
}

TEST(TraceWithoutTicks, is_not_seen_by_programs_that_forbid_themselves_to_read_ticks) {
  for (Words options : {Words{"--trace"}, Words{"--trace", "--via", "copy"}, Words{"--trace", "-a"},
                        Words{"--tree"}}) {
    if (patience_factor() > 1) {
      options.emplace_back("-a");  // else a slow machine would give the trace up for its cost
    }
    const TempDir directory;
    const auto run = profile(directory, options, {target("forbids_ticks")});
    EXPECT_EQ(run.outcome.out, "right\n") << run.outcome.text();
    EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
    EXPECT_EQ(run.files.calls_of("leaf"), 10'000U) << options.back();
  }
}

TEST_F(TraceInCopies, has_the_program_as_it_is_though_signals_come_anywhere) {
  constexpr std::uint64_t kTurns = 1'000'000;
  const Words program{target("indirect_ways"), std::to_string(kTurns), "300"};
  const std::string expected = sp::end_to_end::run(program).out;
  const TempDir directory;
  const auto run = profile(directory, {"--trace", "-q", "--via", "copy"}, program);
  EXPECT_EQ(run.outcome.out, expected) << run.outcome.text();
  EXPECT_EQ(run.outcome.exit_status(), 0);
  std::uint64_t calls = 0;
  for (const char* function : {"add", "treble", "flip", "take"}) {
    calls += run.files.calls_of(function);
  }
  EXPECT_EQ(calls, kTurns + 3 * kTurns / 8 + run.files.calls_of("on_signal"));
  EXPECT_GT(run.files.calls_of("on_signal"), 100U);
}

}  // namespace
}  // namespace sp::end_to_end
