// --trace: every call is there, with the end that it had.
#include <gtest/gtest.h>
#include <signal.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "end_to_end/profiled.h"
#include "end_to_end/trace_calls.h"

namespace sp::end_to_end {
namespace {

using Closings = std::map<std::string, std::uint64_t>;

/// Runs a way of trace_ways; the functions that are named must have these ends.
void expect_calls_with(const Words& way, const std::map<std::string, Closings>& expected,
                       const Words& options) {
  const TempDir directory;
  Words words{"--trace"};
  words.insert(words.end(), options.begin(), options.end());
  if (patience_factor() > 1) {
    words.emplace_back("-a");  // else a slow machine would give the trace up for its cost
  }
  Words program{target("trace_ways")};
  program.insert(program.end(), way.begin(), way.end());
  const auto run = profile(directory, words, program);
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  const auto facts = run.files.run()["trace"];
  EXPECT_GE(facts["functions_by_reason"]["default"], expected.size()) << facts;
  EXPECT_GE(facts["entries"]["checked"], expected.size()) << facts;
  EXPECT_EQ(facts["entries"]["disagreeing"], 0) << way[0] << facts;
  const auto calls = calls_in(directory / "run");
  for (const auto& [function, closings] : expected) {
    const auto found = calls.find(function);
    ASSERT_NE(found, calls.end()) << function << " in " << way[0];
    EXPECT_EQ(found->second.closings, closings) << function << " in " << way[0];
    std::uint64_t sum = 0;
    for (const auto& [closing, number] : closings) {
      sum += number;
    }
    EXPECT_EQ(found->second.calls, sum) << function;
    EXPECT_EQ(run.files.calls_of(function), sum) << function;
  }
}

/// The same where breakpoints tell, and where copies write the events.
void expect_calls(const Words& way, const std::map<std::string, Closings>& expected,
                  Words options = {}) {
  expect_calls_with(way, expected, options);
  options.insert(options.end(), {"--via", "copy"});
  expect_calls_with(way, expected, options);
}

TEST(Trace, has_each_call_with_its_end) {
  expect_calls({"fib", "7"}, {{"fib", {{"returned", 41}}}, {"main", {{"returned", 1}}}});
  expect_calls({"throw"}, {{"throws", {{"unwound", 1}}},
                           {"passes", {{"unwound", 1}}},
                           {"cleans", {{"unwound", 1}}},
                           {"leaf", {{"returned", 4}}}});
  expect_calls({"longjmp"}, {{"jumps_back", {{"unwound", 1}}},
                             {"between", {{"unwound", 1}}},
                             {"leaf", {{"returned", 2}}}});
  expect_calls({"tails"}, {{"first", {{"tail", 1}}},
                           {"second", {{"tail", 1}}},
                           {"third", {{"tail", 1}}},
                           {"leaf", {{"returned", 2}}}});
  expect_calls({"exit"}, {{"ends_process", {{"at-end", 1}}}, {"main", {{"at-end", 1}}}});
}

TEST(Trace, ends_calls_that_longjmp_leaves_when_it_comes_back) {
  for (const char* const via : {"auto", "int3", "copy"}) {
    const TempDir directory;
    const auto run =
        profile(directory, {"--trace", "--via", via}, {target("trace_ways"), "longjmp-wait"});
    ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
    auto calls = calls_in(directory / "run");
    for (const char* const left : {"between", "jumps_back"}) {
      EXPECT_EQ(calls[left].closings, (Closings{{"unwound", 2}})) << via;
      EXPECT_LT(calls[left].longest_ns, 300'000'000U) << left << " " << via;
    }
    EXPECT_EQ(calls["waits_behind_jump"].closings, (Closings{{"returned", 2}})) << via;
    EXPECT_GE(calls["waits_behind_jump"].longest_ns, 300'000'000U) << via;
  }
}

TEST(Trace, has_calls_of_handlers_and_coroutines_on_stacks_of_their_own) {
  expect_calls({"handler"}, {{"leaf", {{"returned", 3}}}, {"leaves_handler", {{"returned", 1}}}});
  expect_calls({"coroutine"}, {{"leaf", {{"returned", 7}}}, {"main", {{"returned", 1}}}});
}

TEST(Trace, ends_handlers_that_leave_their_stack_at_the_next_event_elsewhere) {
  for (const char* const via : {"auto", "int3", "copy"}) {
    const TempDir directory;
    const auto run =
        profile(directory, {"--trace", "--via", via}, {target("trace_ways"), "handler-wait"});
    ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
    auto calls = calls_in(directory / "run");
    EXPECT_EQ(calls["handler"].closings, (Closings{{"unwound", 2}})) << via;
    EXPECT_LT(calls["handler"].longest_ns, 300'000'000U) << via;
    EXPECT_EQ(calls["leaf"].closings, (Closings{{"returned", 6}})) << via;
    EXPECT_GE(calls["waits_behind_handler"].longest_ns, 300'000'000U) << via;
  }
}

TEST(Trace, has_calls_of_threads_and_children) {
  expect_calls({"threads", "50"}, {{"leaf", {{"returned", 151}}},
                                   {"calls_much", {{"returned", 3}}},
                                   {"ends_thread", {{"at-end", 1}}}});
  expect_calls({"fork"}, {{"leaf", {{"returned", 3}}}});
  expect_calls({"vfork"}, {{"leaf", {{"returned", 3}}}});
  expect_calls({"spawn"},
               {{"leaf", {{"returned", 4}}},
                {"spawns", {{"returned", 1}}},
                {"main", {{"returned", 1}, {"at-end", 1}}}},
               {"-a"});
  expect_calls({"exec"}, {{"leaf", {{"returned", 1}}},
                          {"fib", {{"returned", 41}}},
                          {"main", {{"returned", 1}, {"at-end", 1}}}});
}

TEST(Trace, has_deep_recursion) {
  expect_calls({"deep", "3000"}, {{"deep", {{"returned", 3001}}}});
}

TEST(Trace, counts_calls_as_single_does) {
  const TempDir traced;
  const TempDir single;
  const Words program{target("trace_ways"), "fib", "9"};
  const auto run = profile(traced, {"--trace"}, program);
  const auto exact = profile(single, {"--single"}, program);
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  std::set<std::string> compared;
  for (const FunctionRow& row : exact.files.functions()) {
    if (row.module == target("trace_ways") && row.calls > 0 &&
        run.files.calls_of(row.function) > 0) {
      EXPECT_EQ(run.files.calls_of(row.function), row.calls) << row.function;
      compared.insert(row.function);
    }
  }
  EXPECT_TRUE(compared.contains("fib"));
  EXPECT_TRUE(compared.contains("main"));
}

TEST(Trace, leaves_out_what_filters_and_options_leave_out) {
  const TempDir directory;
  write_file(directory / "filters.toml",
             "[[block]]\nrule_name = \"all\"\n[[allow]]\nfunction_demangled_name = \"fib\"\n");
  const auto run = profile(directory, {"--trace", "--filters", directory / "filters.toml"},
                           {target("trace_ways"), "fib", "7"});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  const auto calls = calls_in(directory / "run");
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls.at("fib").calls, 41U);
  const std::string table = read_file(directory / "run/symbols.tsv");
  EXPECT_NE(table.find("block:all"), std::string::npos) << table;
  EXPECT_NE(table.find("allow:"), std::string::npos) << table;

  const TempDir shallow;
  const auto few =
      profile(shallow, {"--trace", "--max-depth", "3"}, {target("trace_ways"), "fib", "7"});
  ASSERT_EQ(few.outcome.exit_status(), 0) << few.outcome.text();
  EXPECT_EQ(calls_in(shallow / "run").at("fib").calls, 1U);  // below _start and main
  EXPECT_EQ(few.files.calls_of("fib"), 41U);
}

TEST(Trace, keeps_the_newest_events) {
  const TempDir directory;
  const auto run = profile(directory, {"--trace", "--when-full", "keep", "--buffer", "20"},
                           {target("trace_ways"), "fib", "12"});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  const auto facts = run.files.run()["trace"];
  EXPECT_EQ(facts["kind"], "exact-until");
  EXPECT_GT(facts["lost"], 400);
  EXPECT_LE(facts["events"], 42);  // with those that say what was stolen
}

TEST(Trace, reads_up_to_the_moment_when_superprofiler_is_killed) {
  const TempDir directory;
  Running loop({target("trace_ways"), "loop", "9"});
  ASSERT_TRUE(loop.says("ready"));
  Running tracer(superprofiler(directory, {"--trace", "-a", "-p", std::to_string(loop.pid())}));
  ASSERT_TRUE(eventually([&] {
    loop.write_input("x");
    return read_file(directory / "run/trace.sp").size() > 8000;
  }));
  tracer.signal(SIGKILL);
  EXPECT_EQ(tracer.wait().signal(), SIGKILL);
  for (int round = 0; round < 100; ++round) {
    loop.write_input("x");
  }
  loop.close_input();
  EXPECT_EQ(loop.wait().exit_status(), 0);
  const Outcome shown =
      end_to_end::run({SP_PROGRAM, "report", "--trace", directory / "run", "--json"});
  EXPECT_EQ(shown.exit_status(), 0) << shown.text();
  EXPECT_NE(shown.out.find("\"calls\""), std::string::npos);
}

TEST(Trace, refuses_options_that_do_not_go_together) {
  const auto refused = [](const Words& options, const std::string& why) {
    Words words{SP_PROGRAM};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "/bin/true"});
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_status(), 2) << outcome.text();
    EXPECT_NE(outcome.err.find(why), std::string::npos) << outcome.err;
  };
  refused({"--trace", "-n"}, "--trace and -n exclude each other");
  refused({"--trace", "-s"}, "--trace and -s exclude each other");
  refused({"--trace", "--coverage"}, "--trace and --coverage exclude each other");
  refused({"--max-depth", "3"}, "--max-depth is for --trace");
  refused({"--trace", "--buffer", "0"}, "--buffer");
  refused({"--trace", "--buffer", "100"}, "--when-full");
  refused({"--trace", "--when-full", "never"}, "when-full");
}

/// No sample comes of it: its breakpoints are planted in a stop that is made for that.
TEST(Trace, begins_in_a_process_that_sleeps) {
  for (int round = 0; round < 4; ++round) {
    const TempDir directory;
    Running program({target("trace_ways"), "deep-wait", "5"});
    ASSERT_TRUE(program.says("ready"));
    Running tracer(superprofiler(directory, {"--trace", "-p", std::to_string(program.pid())}));
    ASSERT_TRUE(eventually([&] { return !changed_text(program.pid()).empty(); })) << round;
    tracer.signal(SIGINT);
    EXPECT_EQ(tracer.wait().exit_status(), 0);
    program.write_input("\n");
    program.close_input();
    EXPECT_EQ(program.wait().exit_status(), 0);
  }
}

}  // namespace
}  // namespace sp::end_to_end
