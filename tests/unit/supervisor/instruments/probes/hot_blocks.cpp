#include "supervisor/instruments/probes/hot_blocks.h"

#include <gtest/gtest.h>

#include <vector>

namespace sp::supervisor {
namespace {

using Numbers = std::vector<std::uint32_t>;

ProbedBlocks make_blocks(std::uint32_t count) {
  ProbedBlocks blocks(count);
  for (std::uint32_t number = 0; number < count; ++number) {
    blocks[number].number = number;
  }
  return blocks;
}

void execute(HotBlocks& hot, ProbedBlock& block, int times) {
  for (int i = 0; i < times; ++i) {
    hot.note_execution(block);
  }
}

TEST(HotBlocks, are_as_many_as_leave_the_share_to_keep) {
  ProbedBlocks blocks = make_blocks(4);
  HotBlocks hot;
  execute(hot, blocks[0], 9);
  execute(hot, blocks[1], 1);
  execute(hot, blocks[2], 70);
  execute(hot, blocks[3], 20);
  EXPECT_EQ(hot.take_hottest(blocks, 0.1), (Numbers{2, 3}));
}

TEST(HotBlocks, are_none_where_all_may_be_kept) {
  ProbedBlocks blocks = make_blocks(1);
  HotBlocks hot;
  EXPECT_EQ(hot.take_hottest(blocks, 0.1), Numbers{});
  execute(hot, blocks[0], 5);
  EXPECT_EQ(hot.take_hottest(blocks, 1), Numbers{});
}

TEST(HotBlocks, depend_on_the_executions_since_the_last_choice) {
  ProbedBlocks blocks = make_blocks(2);
  HotBlocks hot;
  execute(hot, blocks[0], 90);
  execute(hot, blocks[1], 10);
  EXPECT_EQ(hot.take_hottest(blocks, 0.5), Numbers{0});
  EXPECT_EQ(blocks[0].hotness, 0U);
  EXPECT_EQ(blocks[0].executions, 90U);
  execute(hot, blocks[0], 1);
  execute(hot, blocks[1], 2);
  EXPECT_EQ(hot.take_hottest(blocks, 0.5), Numbers{1});
}

TEST(BlocksAbove, have_more_than_the_share_of_all_executions) {
  ProbedBlocks blocks = make_blocks(3);
  blocks[0].executions = 50;
  blocks[1].executions = 10;
  blocks[2].executions = 40;
  EXPECT_EQ(find_blocks_above(blocks, 0.1, 99), (Numbers{0, 2}));
  EXPECT_EQ(find_blocks_above(blocks, 0.1, 100), Numbers{});
}

TEST(BlocksAbove, are_chosen_among_those_with_a_probe) {
  ProbedBlocks blocks = make_blocks(3);
  blocks[0].executions = 1000;
  blocks[0].until = core::TimePoint{};
  blocks[1].executions = 1000;
  blocks[1].is_derived = true;
  blocks[2].executions = 10;
  EXPECT_EQ(find_blocks_above(blocks, 0.5, 0), Numbers{2});
  EXPECT_EQ(find_blocks_above(blocks, 0.5, 10), Numbers{});
}

}  // namespace
}  // namespace sp::supervisor
