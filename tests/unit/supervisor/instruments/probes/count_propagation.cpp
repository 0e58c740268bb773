#include "supervisor/instruments/probes/count_propagation.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace sp::supervisor {
namespace {

using core::Address;
using core::Flow;
using core::TimePoint;

constexpr std::uint64_t kSize = 16;  // of every block
constexpr std::uint8_t kLast = 2;    // of its last instruction
constexpr Address kBegin{0x1000};

TimePoint at(int seconds) { return TimePoint{std::chrono::seconds(seconds)}; }

/// Code of one function: 0 branches to 2 or goes on to 1; 1 jumps to 3; 2 falls through to 3; 3
/// returns. 1 and 2 can be derived.
class CountPropagationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    function_.bounds = {kBegin, kBegin + 4 * kSize};
    add(Flow::branch, 2);
    add(Flow::jump, 3);
    add(Flow::next, std::nullopt);
    blocks_.back().falls_through = true;
    add(Flow::ret, std::nullopt);
    choose();
  }

  void add(Flow flow, std::optional<std::uint64_t> target) {
    ProbedBlock block;
    block.number = static_cast<std::uint32_t>(blocks_.size());
    block.start = start(block.number);
    block.size = kSize;
    block.last = {block.start + (kSize - kLast), kLast, flow,
                  target ? std::optional(start(*target)) : std::nullopt};
    block.probe = block.last.address;
    function_.blocks.push_back(block.number);
    blocks_.push_back(block);
  }

  void choose(const CountPropagation::HasBreakpoint& has_breakpoint = [](Address) {
    return false;
  }) {
    propagation_.choose_derived(function_, blocks_, has_breakpoint);
  }

  static Address start(std::uint64_t number) { return kBegin + number * kSize; }

  [[nodiscard]] CountPropagation::Edge edge(std::uint32_t from, std::uint32_t to,
                                            std::uint64_t hits) const {
    return {blocks_[from].last.address, start(to), core::EdgeFlow::taken, hits, at(1), at(2)};
  }

  CountPropagation propagation_;
  ProbedFunction function_;
  ProbedBlocks blocks_;
};

TEST_F(CountPropagationTest, derives_blocks_with_one_successor) {
  EXPECT_FALSE(blocks_[0].is_derived);
  EXPECT_TRUE(blocks_[1].is_derived);
  EXPECT_TRUE(blocks_[2].is_derived);
  EXPECT_FALSE(blocks_[3].is_derived);
  EXPECT_EQ(propagation_.derived(), 2U);
}

TEST_F(CountPropagationTest, of_a_forked_child_has_its_parents_derived_blocks) {
  choose();
  propagation_ = propagation_.forked();
  EXPECT_EQ(propagation_.derived(), 2U);
  choose();
  EXPECT_EQ(propagation_.derived(), 2U) << "not below 0";
}

TEST_F(CountPropagationTest, adds_edges_to_the_derived_block_and_its_outgoing_edge) {
  propagation_.propagate({edge(0, 1, 5)}, blocks_);
  EXPECT_EQ(blocks_[1].hits, 5U);
  EXPECT_EQ(blocks_[1].first_hit, at(1));
  EXPECT_EQ(blocks_[1].last_hit, at(2));
  EXPECT_EQ(blocks_[2].hits, 0U);
  const auto edges = propagation_.take_edges();
  ASSERT_EQ(edges.size(), 2U);
  EXPECT_EQ(edges[1].from, blocks_[1].last.address);
  EXPECT_EQ(edges[1].to, start(3));
  EXPECT_EQ(edges[1].flow, core::EdgeFlow::jump);
  EXPECT_EQ(edges[1].hits, 5U);
  EXPECT_TRUE(propagation_.take_edges().empty());
}

TEST_F(CountPropagationTest, makes_no_edge_of_a_block_that_falls_through) {
  propagation_.propagate({edge(0, 2, 3)}, blocks_);
  EXPECT_EQ(blocks_[2].hits, 3U);
  EXPECT_EQ(propagation_.take_edges().size(), 1U);
}

TEST_F(CountPropagationTest, adds_up_over_calls) {
  propagation_.propagate({edge(0, 1, 5)}, blocks_);
  CountPropagation::Edge later = edge(0, 1, 2);
  later.first = at(7);
  later.last = at(8);
  propagation_.propagate({later}, blocks_);
  EXPECT_EQ(blocks_[1].hits, 7U);
  EXPECT_EQ(blocks_[1].first_hit, at(1));
  EXPECT_EQ(blocks_[1].last_hit, at(8));
  EXPECT_EQ(propagation_.take_edges().size(), 4U);
}

TEST_F(CountPropagationTest, keeps_a_probe_that_is_inserted) {
  choose([this](Address address) { return address == blocks_[1].probe; });
  EXPECT_FALSE(blocks_[1].is_derived);
  EXPECT_TRUE(blocks_[2].is_derived);
  EXPECT_EQ(propagation_.derived(), 1U);
  propagation_.propagate({edge(0, 1, 5)}, blocks_);
  EXPECT_EQ(blocks_[1].hits, 0U);
}

TEST_F(CountPropagationTest, ends_when_a_predecessor_is_not_counted_any_more) {
  blocks_[0].until = at(3);
  propagation_.end_uncounted(function_, blocks_, at(3));
  EXPECT_EQ(blocks_[1].until, at(3));
  EXPECT_TRUE(blocks_[1].has_unreported_change);
  EXPECT_FALSE(blocks_[1].is_derived);
  propagation_.propagate({edge(0, 1, 5)}, blocks_);
  EXPECT_EQ(blocks_[1].hits, 0U);
}

TEST_F(CountPropagationTest, goes_on_while_every_predecessor_is_counted) {
  blocks_[3].until = at(3);
  propagation_.end_uncounted(function_, blocks_, at(3));
  EXPECT_FALSE(blocks_[1].until);
  EXPECT_TRUE(blocks_[1].is_derived);
}

TEST_F(CountPropagationTest, passes_edges_of_unmapped_code_through) {
  propagation_.forget({kBegin, kBegin + 1});
  propagation_.propagate({edge(0, 1, 5)}, blocks_);
  EXPECT_EQ(blocks_[1].hits, 0U);
  EXPECT_EQ(propagation_.take_edges().size(), 1U);
}

TEST_F(CountPropagationTest, of_a_forked_child_has_no_edges) {
  propagation_.propagate({edge(0, 1, 5)}, blocks_);
  CountPropagation child = propagation_.forked();
  EXPECT_TRUE(child.take_edges().empty());
  ProbedBlocks blocks = blocks_;
  blocks[1].hits = 0;
  child.propagate({edge(0, 1, 2)}, blocks);
  EXPECT_EQ(blocks[1].hits, 2U);
}

/// 0 falls through to 1, which jumps to 2, which returns.
class CountPropagationOfFallThrough : public CountPropagationTest {
 protected:
  void SetUp() override {
    function_.bounds = {kBegin, kBegin + 3 * kSize};
    add(Flow::next, std::nullopt);
    blocks_.back().falls_through = true;
    add(Flow::jump, 2);
    add(Flow::ret, std::nullopt);
    blocks_[0].hits = 10;
    choose();
  }
};

TEST_F(CountPropagationOfFallThrough, counts_the_hits_since_the_block_was_derived) {
  ASSERT_TRUE(blocks_[1].is_derived);
  propagation_.propagate({}, blocks_);
  EXPECT_EQ(blocks_[1].hits, 0U);
  blocks_[0].add_hit(at(4));
  propagation_.propagate({}, blocks_);
  EXPECT_EQ(blocks_[1].hits, 1U);
  EXPECT_EQ(blocks_[1].last_hit, at(4));
  propagation_.propagate({}, blocks_);
  EXPECT_EQ(blocks_[1].hits, 1U);
}

TEST_F(CountPropagationOfFallThrough, does_not_count_a_hit_again_that_was_taken_back) {
  blocks_[0].add_hit(at(4));
  propagation_.propagate({}, blocks_);
  blocks_[0].take_back_hit();
  propagation_.propagate({}, blocks_);
  EXPECT_EQ(blocks_[1].hits, 1U);
  blocks_[0].add_hit(at(5));
  propagation_.propagate({}, blocks_);
  EXPECT_EQ(blocks_[1].hits, 1U);
}

TEST_F(CountPropagationOfFallThrough, counts_all_hits_of_a_forked_childs_blocks) {
  CountPropagation child = propagation_.forked();
  blocks_[0].hits = 2;
  child.propagate({}, blocks_);
  EXPECT_EQ(blocks_[1].hits, 2U);
}

}  // namespace
}  // namespace sp::supervisor
