#include "profiler/probed_profile.h"

#include <gtest/gtest.h>

#include "unit/profiler/probed.h"

namespace sp::profiler {
namespace {

using test::at;
using test::block;
using test::EdgeFlow;
using test::falling;
using test::Probed;
using test::second;
using test::since;
using test::until;

TEST(ProbedProfile, adds_hits_up_over_reports_and_processes) {
  ProbedProfile profile;
  test::ToldBlock early = block(0x10, 8, 5);
  early.first_hit = second(0.5);
  profile.add(Probed().block(block(0x10, 8, 7)).edge(0x16, 0x30, EdgeFlow::taken, 7).taken());
  profile.add(Probed().block(early).edge(0x16, 0x30, EdgeFlow::taken, 5).taken());
  profile.add(Probed().block(block(0x10, 8, 0)).taken());
  ASSERT_EQ(profile.blocks().size(), 1U);
  EXPECT_EQ(profile.blocks()[0].hits, 12U);
  EXPECT_EQ(profile.blocks()[0].first_hit, second(0.5));
  EXPECT_EQ(profile.blocks()[0].last_hit, second(9));
  ASSERT_EQ(profile.edges().size(), 1U);
  EXPECT_EQ(profile.edges()[0].hits, 12U);
}

TEST(ProbedProfile, times_of_a_report_without_hits_mean_nothing) {
  ProbedProfile profile;
  test::ToldBlock idle = block(0x10, 8, 0);
  idle.first_hit = {};
  idle.last_hit = {};
  profile.add(Probed().block(idle).taken());
  profile.add(Probed().block(block(0x10, 8, 1)).taken());
  profile.add(Probed().block(idle).taken());
  EXPECT_EQ(profile.blocks().at(0).first_hit, second(1));
  EXPECT_EQ(profile.blocks().at(0).last_hit, second(9));
}

TEST(ProbedProfile, is_exact_only_as_far_as_every_process_is) {
  ProbedProfile profile;
  profile.add(Probed().block(block(0x10, 8, 1)).block(block(0x30, 8, 1)).taken());
  profile.add(Probed().block(since(2, until(7, block(0x10, 8, 1)))).taken());
  profile.add(Probed().block(since(1, until(5, block(0x10, 8, 1)))).taken());
  profile.add(Probed().block(block(0x10, 8, 1)).taken());
  ASSERT_EQ(profile.blocks().size(), 2U);
  EXPECT_EQ(profile.blocks()[0].since, second(2));
  EXPECT_EQ(profile.blocks()[0].until, second(5));
  EXPECT_FALSE(profile.blocks()[1].since || profile.blocks()[1].until);
}

TEST(ProbedProfile, a_block_is_as_small_as_it_was_ever_told) {
  ProbedProfile profile;
  profile.add(Probed().block(block(0x10, 16, 3)).taken());
  profile.add(Probed().block(falling(0x10, 6, 4)).taken());
  profile.add(Probed().block(block(0x10, 16, 5)).taken());
  const ProbedProfile::Block& sum = profile.blocks().at(0);
  EXPECT_EQ(sum.size, 6U);
  EXPECT_EQ(sum.last, 4U);
  EXPECT_EQ(sum.instructions, 3U);
  EXPECT_TRUE(sum.falls_through);
  EXPECT_EQ(sum.hits, 12U);
  EXPECT_EQ(sum.widest, 16U);
}

TEST(ProbedProfile, remembers_until_when_a_block_was_hit_as_a_larger_one) {
  ProbedProfile profile;
  test::ToldBlock wide = block(0x10, 16, 3);
  wide.last_hit = second(4);
  profile.add(Probed().block(wide).taken());
  EXPECT_FALSE(profile.blocks().at(0).wide_hit.has_value());
  profile.add(Probed().block(falling(0x10, 6, 4)).taken());
  EXPECT_EQ(profile.blocks().at(0).wide_hit, second(4));
  wide.last_hit = second(6);
  profile.add(Probed().block(wide).taken());
  EXPECT_EQ(profile.blocks().at(0).wide_hit, second(6)) << "by another process";
  wide.hits = 0;
  wide.last_hit = second(8);
  profile.add(Probed().block(wide).taken());
  EXPECT_EQ(profile.blocks().at(0).wide_hit, second(6));
}

TEST(ProbedProfile, tells_modules_and_flows_apart) {
  ProbedProfile profile;
  test::ToldBlock other = block(0x10, 8, 1);
  other.start.module = test::kLibc;
  profile.add(Probed()
                  .block(block(0x10, 8, 1))
                  .block(other)
                  .edge(0x10, 0x12, EdgeFlow::taken, 1)
                  .edge(0x10, 0x12, EdgeFlow::fallthrough, 1)
                  .edge(0x10, 0x14, EdgeFlow::taken, 0)
                  .taken());
  EXPECT_EQ(profile.blocks().size(), 2U);
  EXPECT_EQ(profile.edges().size(), 2U);
}

TEST(ProbedProfile, counts_what_its_bounded_memory_does_not_take) {
  ProbedProfile profile(10, 10);
  Probed code;
  for (std::uint64_t i = 0; i < 100; ++i) {
    code.block(block(0x10 * i, 8, 2)).edge(0x10 * i, 0x10 * i + 8, EdgeFlow::jump, 3);
  }
  profile.add(code.taken());
  profile.add(code.taken());
  EXPECT_EQ(profile.blocks().size(), 10U);
  EXPECT_EQ(profile.edges().size(), 10U);
  EXPECT_EQ(profile.blocks()[0].hits, 4U);
  EXPECT_EQ(profile.dropped_hits(), 2U * 90U * (2U + 3U));
}

TEST(ProbedProfile, adds_up_what_single_steps_showed) {
  ProbedProfile profile;
  profile.add(core::CodeExplored{1, 100, 7, 0});
  profile.add(core::CodeExplored{1, 50, 2, 1});
  EXPECT_EQ(profile.explored().windows, 2U);
  EXPECT_EQ(profile.explored().steps, 150U);
  EXPECT_EQ(profile.explored().branches, 9U);
  EXPECT_EQ(profile.explored().disagreements, 1U);
}

}  // namespace
}  // namespace sp::profiler
