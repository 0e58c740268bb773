#include "supervisor/instruments/probes/counter_placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace sp::supervisor {
namespace {

using core::Address;
using core::Flow;

constexpr std::uint32_t kSize = 16;  // of every block

/// Blocks one behind another, numbered from 0.
class Blocks {
 public:
  Blocks& falls() {
    add(Flow::next, {});
    blocks_.back().falls_through = true;
    return *this;
  }
  Blocks& ends(Flow flow, std::optional<std::size_t> target = {}) {
    add(flow, target ? std::optional(Address{*target * kSize}) : std::nullopt);
    return *this;
  }
  Blocks& mute() {
    blocks_.back().counts_edges = false;
    return *this;
  }
  Blocks& entry() {
    blocks_.back().is_entry = true;
    return *this;
  }
  [[nodiscard]] std::vector<std::size_t> derivable() const {
    std::vector<std::size_t> found;
    for (const DerivableBlock& block : find_derivable(blocks_)) {
      found.push_back(block.block);
    }
    return found;
  }
  [[nodiscard]] const std::vector<FlowBlock>& all() const { return blocks_; }

 private:
  void add(Flow flow, std::optional<Address> target) {
    const Address start{blocks_.size() * kSize};
    constexpr std::uint32_t kLast = 2;
    const core::Instruction last{start + (kSize - kLast), kLast, flow, target};
    blocks_.push_back({start, kSize, last, false, true, blocks_.empty()});
  }

  std::vector<FlowBlock> blocks_;
};

using Found = std::vector<std::size_t>;

TEST(DerivableBlocks, are_both_sides_of_a_branch_that_meet_again) {
  const Blocks blocks = Blocks().ends(Flow::branch, 2).ends(Flow::jump, 3).falls().ends(Flow::ret);
  EXPECT_EQ(blocks.derivable(), (Found{1, 2}));
}

TEST(DerivableBlocks, come_behind_those_that_they_need) {
  // 3 is where 1 goes, and falls into 2's destination.
  const Blocks blocks = Blocks()
                            .ends(Flow::branch, 2)
                            .ends(Flow::jump, 3)
                            .ends(Flow::ret)
                            .falls()
                            .ends(Flow::jump, 2);
  const auto found = find_derivable(blocks.all());
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].block, 1U);
  EXPECT_EQ(found[1].block, 3U);
  EXPECT_EQ(found[1].predecessors, Found{1});
  EXPECT_TRUE(found[1].fallthrough_predecessors.empty());
  EXPECT_EQ(found[2].block, 4U);
  EXPECT_EQ(found[2].fallthrough_predecessors, Found{3});
}

TEST(DerivableBlocks, have_one_way_out) {
  EXPECT_EQ(Blocks().ends(Flow::branch, 2).ends(Flow::branch, 0).ends(Flow::ret).derivable(),
            Found{});
  EXPECT_EQ(Blocks().ends(Flow::jump, 1).ends(Flow::call, 0).ends(Flow::ret).derivable(), Found{});
  EXPECT_EQ(Blocks().ends(Flow::jump, 1).ends(Flow::jump, 99).derivable(), Found{});
}

TEST(DerivableBlocks, are_not_where_control_comes_from_elsewhere) {
  EXPECT_EQ(Blocks().falls().falls().entry().ends(Flow::ret).derivable(), Found{});
  EXPECT_EQ(Blocks().ends(Flow::call, 0).falls().ends(Flow::ret).derivable(), Found{});
  EXPECT_EQ(Blocks().ends(Flow::indirect_call).falls().ends(Flow::ret).derivable(), Found{});
  EXPECT_EQ(Blocks().ends(Flow::ret).falls().ends(Flow::ret).derivable(), Found{});
}

TEST(DerivableBlocks, need_probes_that_tell) {
  EXPECT_EQ(Blocks().ends(Flow::jump, 1).mute().falls().ends(Flow::ret).derivable(), Found{});
  EXPECT_EQ(Blocks().ends(Flow::indirect_jump).falls().ends(Flow::ret).derivable(), Found{1});
  EXPECT_EQ(Blocks().ends(Flow::indirect_jump).mute().falls().ends(Flow::ret).derivable(), Found{});
  const Blocks elsewhere = Blocks().ends(Flow::branch, 2).falls().ends(Flow::indirect_jump).mute();
  EXPECT_EQ(elsewhere.derivable(), Found{});
}

TEST(DerivableBlocks, are_not_all_of_a_circle) {
  EXPECT_EQ(Blocks().ends(Flow::branch, 2).ends(Flow::jump, 1).ends(Flow::ret).derivable(),
            Found{});
  EXPECT_EQ(Blocks().falls().falls().ends(Flow::jump, 1).derivable(), Found{});
}

TEST(DerivableBlocks, of_indirect_jumps_need_them_all) {
  const Blocks blocks =
      Blocks().ends(Flow::branch, 2).ends(Flow::jump, 3).ends(Flow::indirect_jump).ends(Flow::ret);
  const auto found = find_derivable(blocks.all());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].predecessors, (Found{0, 2}));
}

}  // namespace
}  // namespace sp::supervisor
