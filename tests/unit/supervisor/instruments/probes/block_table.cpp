#include "supervisor/instruments/probes/block_table.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

namespace sp::supervisor {
namespace {

using core::Address;
using core::TimePoint;

constexpr Address kStart{0x1000};
constexpr std::uint8_t kLength = 4;  // of every instruction
constexpr TimePoint kAttached{std::chrono::seconds(1)};
constexpr TimePoint kLater{std::chrono::seconds(2)};

/// A block that begins `offset` bytes into the function.
core::BasicBlock mapped(std::uint64_t offset, std::size_t instructions) {
  core::BasicBlock block;
  block.start = kStart + offset;
  block.lengths.assign(instructions, kLength);
  block.last = {block.start + (instructions - 1) * kLength, kLength, core::Flow::ret, {}};
  return block;
}

class BlockTableTest : public ::testing::Test {
 protected:
  void update(std::vector<core::BasicBlock> blocks, std::optional<TimePoint> since) {
    core::ControlFlowGraph map;
    map.blocks = std::move(blocks);
    table_.update(function_, map, since, [this](const core::BasicBlock& block) {
      chosen_.push_back(block.start);
      return block.last.address;
    });
  }

  BlockTable table_;
  ProbedFunction function_;
  std::vector<Address> chosen_;  // blocks whose probe was chosen
};

TEST_F(BlockTableTest, numbers_blocks_and_finds_them_by_start) {
  update({mapped(0, 2), mapped(16, 1)}, kAttached);
  EXPECT_EQ(function_.blocks, (std::vector<std::uint32_t>{0, 1}));
  const ProbedBlock* const second = table_.starting_at(kStart + 16);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->number, 1U);
  EXPECT_EQ(second->probe, kStart + 16);
  EXPECT_EQ(second->since, kAttached);
  EXPECT_EQ(table_[0].size, 8U);
  EXPECT_EQ(table_[0].instructions, 2U);
  EXPECT_EQ(table_.starting_at(kStart + 4), nullptr);
}

TEST_F(BlockTableTest, knows_which_addresses_are_in_a_block) {
  update({mapped(0, 2)}, kAttached);
  EXPECT_TRUE(table_.has_block_around(kStart + 7, function_));
  EXPECT_FALSE(table_.has_block_around(kStart + 8, function_));
}

TEST_F(BlockTableTest, gives_the_second_half_of_a_split_block_its_count) {
  update({mapped(0, 4)}, kAttached);
  table_[0].add_hit(kLater);
  core::BasicBlock first = mapped(0, 2);
  first.falls_through = true;
  update({first, mapped(8, 2), mapped(32, 1)}, kLater);
  EXPECT_EQ(table_[0].size, 8U);
  EXPECT_TRUE(table_[0].falls_through);
  EXPECT_EQ(table_[1].hits, 1U);
  EXPECT_EQ(table_[1].last_hit, kLater);
  EXPECT_EQ(table_[1].since, kAttached);
  EXPECT_EQ(table_[2].hits, 0U);
  EXPECT_EQ(table_[2].since, kLater);
}

TEST_F(BlockTableTest, chooses_a_new_probe_only_if_the_size_changed) {
  update({mapped(0, 4), mapped(32, 1)}, kAttached);
  chosen_.clear();
  update({mapped(0, 2), mapped(32, 1)}, kAttached);
  EXPECT_EQ(chosen_, std::vector<Address>{kStart});
}

TEST_F(BlockTableTest, reports_a_change_once) {
  update({mapped(0, 1), mapped(16, 1)}, kAttached);
  EXPECT_EQ(table_.take_changes().size(), 2U);
  EXPECT_TRUE(table_.take_changes().empty());
  table_[1].add_hit(kLater);
  table_[1].add_hit(kLater);
  table_[1].take_back_hit();
  const auto changes = table_.take_changes();
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].start, kStart + 16);
  EXPECT_EQ(changes[0].hits, 1U);
}

TEST_F(BlockTableTest, does_not_report_more_hits_after_one_was_taken_back) {
  update({mapped(0, 1)}, kAttached);
  table_[0].add_hit(kLater);
  (void)table_.take_changes();
  table_[0].take_back_hit();
  EXPECT_TRUE(table_.take_changes().empty());
  table_[0].take_back_hit();
  EXPECT_EQ(table_[0].hits, 0U);
}

TEST_F(BlockTableTest, forgets_unmapped_blocks_but_not_their_numbers) {
  update({mapped(0, 1), mapped(16, 1)}, kAttached);
  table_.forget({kStart, kStart + 16});
  EXPECT_EQ(table_.starting_at(kStart), nullptr);
  EXPECT_NE(table_.starting_at(kStart + 16), nullptr);
  EXPECT_EQ(table_[1].start, kStart + 16);
  EXPECT_EQ(table_.take_changes().size(), 1U);
}

TEST_F(BlockTableTest, of_a_forked_child_has_counted_nothing) {
  update({mapped(0, 1)}, kAttached);
  table_[0].add_hit(kLater);
  table_[0].executions = table_[0].hotness = 1;
  BlockTable child = table_.forked();
  ASSERT_NE(child.starting_at(kStart), nullptr);
  EXPECT_EQ(child[0].hits, 0U);
  EXPECT_EQ(child[0].executions, 0U);
  EXPECT_EQ(child[0].hotness, 0U);
  EXPECT_FALSE(child[0].since);
  EXPECT_EQ(table_[0].hits, 1U);
}

TEST_F(BlockTableTest, of_a_forked_child_tells_only_what_the_child_comes_to_if_the_parent_tells) {
  update({mapped(0, 1), mapped(16, 1)}, kAttached);
  EXPECT_EQ(BlockTable(table_.forked()).take_changes().size(), 2U);
  BlockTable child = table_.forked(false);
  child[1].add_hit(kLater);
  const auto changes = child.take_changes();
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].start, kStart + 16);
  EXPECT_EQ(table_.take_changes().size(), 2U);
}

}  // namespace
}  // namespace sp::supervisor
