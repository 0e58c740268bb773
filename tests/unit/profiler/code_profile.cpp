#include "profiler/code_profile.h"

#include <gtest/gtest.h>

#include "unit/profiler/counted.h"

namespace sp::profiler {
namespace {

using test::at;
using test::Counted;
using test::EdgeFlow;

TEST(CodeProfile, merges_what_several_processes_and_reports_say_of_one_module) {
  CodeProfile profile;
  core::CodeCountsTaken first =
      Counted().run(0x10, {4, 2}).edge(0x14, 0x10, EdgeFlow::taken, 5, 2, 3).taken();
  core::CodeCountsTaken second =
      Counted().run(0x10, {4, 2}).edge(0x14, 0x10, EdgeFlow::taken, 7, 1, 9).taken();
  second.process = {4712, 1};
  profile.add(first);
  profile.add(second);
  EXPECT_EQ(profile.runs().size(), 1U);
  ASSERT_EQ(profile.edges().size(), 1U);
  EXPECT_EQ(profile.edges()[0].hits, 12U);
  EXPECT_EQ(profile.edges()[0].first, core::TimePoint{std::chrono::seconds(1)});
  EXPECT_EQ(profile.edges()[0].last, core::TimePoint{std::chrono::seconds(9)});
}

TEST(CodeProfile, tells_modules_and_flows_apart) {
  CodeProfile profile;
  profile.add(Counted().run(0x10, {1}).run(0x10, {2}, test::kLibc).taken());
  profile.add(Counted()
                  .edge(0x10, 0x11, EdgeFlow::taken, 1)
                  .edge(0x10, 0x11, EdgeFlow::fallthrough, 2)
                  .taken());
  EXPECT_EQ(profile.runs().size(), 2U);
  EXPECT_EQ(profile.edges().size(), 2U);
  ASSERT_NE(profile.run_at({test::kLibc, 0x10}), nullptr);
  EXPECT_EQ(profile.lengths(*profile.run_at({test::kLibc, 0x10}))[0], 2);
  EXPECT_EQ(profile.run_at(at(0x11)), nullptr);
}

TEST(CodeProfile, keeps_the_last_run_where_code_was_written_anew) {
  CodeProfile profile;
  profile.add(Counted().run(0x10, {4, 2}).taken());
  profile.add(Counted().run(0x10, {1, 1, 1}).taken());
  EXPECT_EQ(profile.runs().size(), 1U);
  EXPECT_EQ(profile.lengths(*profile.run_at(at(0x10))).size(), 3U);
  EXPECT_EQ(profile.changed_runs(), 1U);
}

TEST(CodeProfile, counts_what_its_bounded_memory_does_not_take) {
  CodeProfile profile(10, 10);
  Counted code;
  for (std::uint64_t i = 0; i < 100; ++i) {
    code.run(i, {1}).edge(i, i + 1, EdgeFlow::jump, 3);
  }
  profile.add(code.taken());
  profile.add(code.taken());
  EXPECT_EQ(profile.runs().size(), 10U);
  EXPECT_EQ(profile.edges().size(), 10U);
  EXPECT_EQ(profile.edges()[0].hits, 6U);
  EXPECT_EQ(profile.dropped_hits(), 2U * 90U * 3U);
}

}  // namespace
}  // namespace sp::profiler
