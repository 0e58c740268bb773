// --trace at an attach, and of followed programs: where it begins, and what is open then.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdint>
#include <map>
#include <string>

#include "end_to_end/profiled.h"
#include "end_to_end/support.h"
#include "end_to_end/trace_calls.h"

namespace sp::end_to_end {
namespace {

using Closings = std::map<std::string, std::uint64_t>;

TEST(TraceBegins, in_a_process_that_was_attached_to) {
  const TempDir directory;
  Running loop({target("trace_ways"), "loop", "5"});
  ASSERT_TRUE(loop.says("ready"));
  Running tracer(superprofiler(directory, {"--trace", "-a", "-p", std::to_string(loop.pid())}));
  ASSERT_TRUE(eventually([&] {
    loop.write_input("x");
    return read_file(directory / "run/trace.sp").size() > 4000;
  }));
  tracer.signal(SIGINT);
  ASSERT_EQ(tracer.wait().exit_status(), 0);
  const auto calls = calls_in(directory / "run");
  ASSERT_TRUE(calls.contains("fib"));
  Closings closings = calls.at("fib").closings;
  EXPECT_GE(closings["returned"], 15U);
  // Those that were open when it began, or ended.
  EXPECT_LE(closings["entered-before"], 5U);
  EXPECT_LE(closings["at-end"], 5U);
  EXPECT_EQ(closings["unwound"] + closings["tail"], 0U);
  EXPECT_EQ(what_was_left_behind(loop.pid()), "");
  EXPECT_EQ(changed_text(loop.pid()), "");
  loop.close_input();
  EXPECT_EQ(loop.wait().exit_status(), 0);
}

TEST(TraceBegins, with_the_returns_of_calls_that_were_open_at_the_attach) {
  for (const char* const via : {"auto", "int3", "copy"}) {
    const TempDir directory;
    Running deep({target("trace_ways"), "deep-wait", "50"});
    ASSERT_TRUE(deep.says("ready"));
    Running tracer(superprofiler(
        directory, {"--trace", "-a", "--via", via, "-p", std::to_string(deep.pid())}));
    ASSERT_TRUE(eventually([&] {
      deep.write_input("x");
      return !read_file(directory / "run/trace.sp").empty();
    }));
    deep.write_input("\n");
    ASSERT_TRUE(deep.says("51"));
    tracer.signal(SIGINT);
    ASSERT_EQ(tracer.wait().exit_status(), 0);
    const auto calls = calls_in(directory / "run");
    ASSERT_TRUE(calls.contains("waits_deep")) << via;
    EXPECT_EQ(calls.at("waits_deep").closings, (Closings{{"entered-before", 51}})) << via;
    EXPECT_GE(calls.at("leaf").closings.at("returned"), 51U) << via;
    deep.close_input();
    EXPECT_EQ(deep.wait().exit_status(), 0) << via;
  }
}

TEST(TraceBegins, with_the_frames_that_were_open_at_the_attach_and_stay_so) {
  const TempDir directory;
  Running deep({target("trace_ways"), "deep-wait", "50"});
  ASSERT_TRUE(deep.says("ready"));
  Running tracer(superprofiler(directory, {"--trace", "-p", std::to_string(deep.pid())}));
  ASSERT_TRUE(eventually([&] {
    deep.write_input("x");
    return !read_file(directory / "run/trace.sp").empty();
  }));
  tracer.signal(SIGINT);
  ASSERT_EQ(tracer.wait().exit_status(), 0);
  const auto calls = calls_in(directory / "run");
  ASSERT_TRUE(calls.contains("waits_deep"));
  EXPECT_EQ(calls.at("waits_deep").closings, (Closings{{"at-end", 51}}));
  ASSERT_TRUE(calls.contains("main"));
  EXPECT_EQ(calls.at("main").closings, (Closings{{"at-end", 1}}));
  deep.write_input("\n\n");
  EXPECT_EQ(deep.wait().exit_status(), 0);
}

TEST(TraceBegins, in_a_child_with_the_calls_that_its_parent_is_in) {
  for (const char* const via : {"int3", "copy"}) {
    const TempDir directory;
    const auto run = profile(directory, {"--trace", "--via", via}, {target("trace_ways"), "fork"});
    ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
    const auto calls = calls_in(directory / "run");
    ASSERT_TRUE(calls.contains("main"));
    EXPECT_EQ(calls.at("main").closings, (Closings{{"returned", 1}, {"at-end", 1}})) << via;
    EXPECT_EQ(calls.at("leaf").closings, (Closings{{"returned", 3}})) << via;
  }
}

TEST(TraceBegins, with_the_first_call_of_programs_that_a_shell_starts) {
  const TempDir directory;
  const std::string fib = target("trace_ways") + " fib 7; ";
  const auto run =
      profile(directory, {"--trace", "--only-funcs", "fib"}, {"/bin/sh", "-c", fib + fib + "true"});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  const auto calls = calls_in(directory / "run");
  ASSERT_TRUE(calls.contains("fib"));
  EXPECT_EQ(calls.at("fib").closings, (Closings{{"returned", 82}}));
}

}  // namespace
}  // namespace sp::end_to_end
