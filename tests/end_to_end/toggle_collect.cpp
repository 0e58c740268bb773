// --toggle-collect: what is counted only inside of functions that are named.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "end_to_end/probe_support.h"
#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

class ToggleCollect : public ::testing::TestWithParam<const char*> {};

TEST_P(ToggleCollect, counts_the_functions_and_what_they_call) {
  const TempDir directory;
  const Profiled run =
      profile(directory, {GetParam(), "--toggle-collect", "each_round,fib,handler"},
              {target("known_counts"), "30"});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_EQ(functions_with_blocks(run.files),
            (std::set<std::string>{"each_round", "tail", "fib", "handler"}));
  EXPECT_EQ(run.files.calls_of("each_round"), 30U);
  EXPECT_EQ(run.files.calls_of("tail"), 30U);
  EXPECT_EQ(run.files.calls_of("fib"), 177U);
  EXPECT_EQ(run.files.calls_of("handler"), 2U);
  const auto facts = run.files.run();
  EXPECT_EQ(facts.at("counts").at("consistency").at("checked"), 0);
}

TEST_P(ToggleCollect, counts_all_of_main_and_nothing_before_it) {
  const TempDir directory;
  const Profiled run =
      profile(directory, {GetParam(), "--toggle-collect", "main"}, {target("known_counts"), "20"});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_EQ(run.files.calls_of("in_a_triangle"), 190U);
  EXPECT_EQ(run.files.calls_of("fib"), 177U);
  EXPECT_EQ(run.files.calls_of("main"), 1U);
  const auto functions = functions_with_blocks(run.files);
  EXPECT_TRUE(functions.contains("raise")) << "what it calls in libraries";
  EXPECT_FALSE(functions.contains("_start"));
  EXPECT_FALSE(functions.contains("__libc_start_main"));
}

TEST_P(ToggleCollect, follows_children_threads_recursion_and_longjmp) {
  const TempDir directory;
  const Profiled run =
      profile(directory, {GetParam(), "--toggle-collect", "part"}, {target("toggled_ways"), "4"});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_EQ(run.outcome.out, "135\n");
  EXPECT_EQ(run.files.calls_of("work"), 135U) << "it is called outside of part() as well";
  EXPECT_EQ(run.files.calls_of("part"), 1U + 4 * 10 + 2 + 7);
  EXPECT_FALSE(functions_with_blocks(run.files).contains("other"));
}

INSTANTIATE_TEST_SUITE_P(Ways, ToggleCollect, ::testing::Values("--single", "--single=step"),
                         [](const auto& way) {
                           return way.param == std::string("--single") ? "breakpoints" : "steps";
                         });

TEST(ToggleCollectNames, that_nobody_has_are_said) {
  const TempDir directory;
  const Profiled run = profile(directory, {"--single", "--toggle-collect", "no_such_function"},
                               {target("known_counts"), "3"});
  EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_NE(run.outcome.err.find("no function of the target matches --toggle-collect"),
            std::string::npos)
      << run.outcome.text();
  EXPECT_TRUE(functions_with_blocks(run.files).empty());
}

}  // namespace
}  // namespace sp::end_to_end
