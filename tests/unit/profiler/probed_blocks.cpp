#include "profiler/probed_blocks.h"

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

CountedCode derived(const Probed& probed, std::uint64_t threads = 1) {
  ProbedProfile profile;
  profile.add(probed.taken());
  return probed_blocks(profile, threads);
}

/// main at 0x10 falls into a loop at 0x18 that executes 100 times and then continues at 0x20.
Probed loop() {
  return Probed()
      .block(block(0x20, 8, 1))
      .block(falling(0x10, 8, 1))
      .block(block(0x18, 8, 100))
      .edge(0x1e, 0x18, EdgeFlow::taken, 99)
      .edge(0x1e, 0x20, EdgeFlow::fallthrough, 1)
      .edge(0x26, 0x900, EdgeFlow::ret, 1);
}

TEST(ProbedBlocks, a_block_that_ends_before_a_leader_goes_on_there) {
  const CountedCode code = derived(loop());
  ASSERT_EQ(code.blocks.size(), 3U);
  EXPECT_EQ(code.blocks[0].start, at(0x10));
  EXPECT_EQ(code.blocks[1].last, 0x1eU);
  ASSERT_EQ(code.edges.size(), 4U);
  const CountedEdge& fallen = code.edges.back();
  EXPECT_EQ(fallen.from, at(0x16));
  EXPECT_EQ(fallen.to, at(0x18));
  EXPECT_EQ(fallen.flow, EdgeFlow::fallthrough);
  EXPECT_EQ(fallen.hits, 1U);
  EXPECT_EQ(fallen.first, second(1));
  EXPECT_EQ(fallen.last, second(9));
  EXPECT_EQ(executions(code), 102U);
}

TEST(ProbedBlocks, an_edge_is_counted_over_the_span_of_the_block_that_it_leaves) {
  const CountedCode code = derived(Probed()
                                       .block(until(5, block(0x10, 8, 7)))
                                       .block(since(2, falling(0x20, 8, 4)))
                                       .edge(0x16, 0x20, EdgeFlow::jump, 7));
  ASSERT_EQ(code.edges.size(), 2U);
  EXPECT_EQ(code.edges[0].span, (CountedSpan{.until = second(5)}));
  EXPECT_EQ(code.edges[1].span, (CountedSpan{.since = second(2)}));
}

TEST(ProbedBlocks, a_block_that_runs_from_a_copy_counts_on_while_its_edges_end) {
  core::ProbedBlock<core::ModuleOffset> copied = block(0x10, 8, 70);
  copied.edges_until = second(5);
  core::ProbedBlock<core::ModuleOffset> falls = falling(0x30, 8, 9);
  falls.edges_until = second(5);
  const CountedCode code = derived(Probed()
                                       .block(copied)
                                       .block(block(0x20, 8, 7))
                                       .block(falls)
                                       .edge(0x16, 0x20, EdgeFlow::jump, 7)
                                       .edge(0x26, 0x900, EdgeFlow::ret, 7));
  EXPECT_EQ(code.blocks[0].span, CountedSpan{});
  ASSERT_EQ(code.edges.size(), 3U);
  EXPECT_EQ(code.edges[0].span, (CountedSpan{.until = second(5)}));
  EXPECT_EQ(code.edges[1].span, CountedSpan{});
  EXPECT_EQ(code.edges[2].span, CountedSpan{});  // follows from the block's hits
  EXPECT_EQ(code.consistency.disagreeing, 0U);
}

TEST(ProbedBlocks, what_no_block_holds_is_not_placed) {
  const CountedCode code = derived(Probed()
                                       .block(block(0x10, 8, 1))
                                       .edge(0x16, 0x90, EdgeFlow::jump, 1)
                                       .edge(0x30, 0x10, EdgeFlow::jump, 6));
  EXPECT_EQ(code.edges.size(), 1U);
  EXPECT_EQ(code.unplaced_hits, 6U);
}

TEST(ProbedBlocks, code_behind_a_cut_is_exact_only_since_it_was_executed_apart) {
  test::ToldBlock wide = block(0x10, 16, 40);
  wide.last_hit = second(6);
  const CountedCode code = derived(Probed()
                                       .block(falling(0x10, 8, 3))
                                       .block(block(0x18, 8, 3))
                                       .block(block(0x20, 8, 3))
                                       .block(wide)
                                       .edge(0x1e, 0x900, EdgeFlow::ret, 43));
  EXPECT_TRUE(code.blocks[0].span.is_whole());
  EXPECT_EQ(code.blocks[0].hits, 43U);
  EXPECT_EQ(code.blocks[0].size, 8U);
  EXPECT_EQ(code.blocks[1].span, (CountedSpan{.since = second(6)}));
  EXPECT_TRUE(code.blocks[2].span.is_whole());
  EXPECT_EQ(code.consistency.disagreeing, 0U);
}

TEST(ProbedBlocks, counts_that_fit_agree) {
  const CodeConsistency result = derived(loop()).consistency;
  EXPECT_EQ(result.checked, 3U);
  EXPECT_EQ(result.disagreeing, 0U);
  EXPECT_EQ(result.never_left, 0U);
  EXPECT_EQ(result.unfinished, 0U);
}

TEST(ProbedBlocks, each_thread_may_be_within_a_block_when_the_run_ends) {
  const Probed code = Probed()
                          .block(block(0x10, 8, 5))
                          .block(block(0x20, 8, 3))
                          .edge(0x16, 0x20, EdgeFlow::jump, 5)
                          .edge(0x26, 0x900, EdgeFlow::ret, 3);
  EXPECT_EQ(derived(code, 2).consistency.disagreeing, 0U);
  EXPECT_EQ(derived(code, 2).consistency.unfinished, 2U);
  EXPECT_EQ(derived(code, 1).consistency.disagreeing, 1U);
}

TEST(ProbedBlocks, more_out_than_in_is_seen) {
  EXPECT_EQ(derived(Probed().block(block(0x10, 8, 5)).edge(0x16, 0x900, EdgeFlow::ret, 7))
                .consistency.disagreeing,
            1U);
  EXPECT_EQ(derived(Probed().block(block(0x10, 8, 7)).edge(0x16, 0x900, EdgeFlow::ret, 5))
                .consistency.disagreeing,
            1U);
}

TEST(ProbedBlocks, what_is_never_left_is_told_apart) {
  const CodeConsistency result = derived(Probed().block(block(0x10, 8, 5))).consistency;
  EXPECT_EQ(result.never_left, 1U);
  EXPECT_EQ(result.disagreeing, 0U);
}

TEST(ProbedBlocks, only_what_was_counted_over_the_same_span_is_compared) {
  const Probed apart = Probed()
                           .block(block(0x10, 8, 50))
                           .block(since(2, block(0x20, 8, 3)))
                           .block(until(3, block(0x30, 8, 9)))
                           .edge(0x16, 0x20, EdgeFlow::jump, 25)
                           .edge(0x16, 0x30, EdgeFlow::taken, 25)
                           .edge(0x26, 0x900, EdgeFlow::ret, 3)
                           .edge(0x36, 0x900, EdgeFlow::ret, 9);
  EXPECT_EQ(derived(apart).consistency.disagreeing, 0U);
  EXPECT_EQ(derived(apart).consistency.checked, 2U);
  const Probed together = Probed()
                              .block(since(2, block(0x10, 8, 50)))
                              .block(since(2, block(0x20, 8, 3)))
                              .edge(0x16, 0x20, EdgeFlow::jump, 50)
                              .edge(0x26, 0x900, EdgeFlow::ret, 3);
  EXPECT_EQ(derived(together).consistency.disagreeing, 1U);
}

}  // namespace
}  // namespace sp::profiler
