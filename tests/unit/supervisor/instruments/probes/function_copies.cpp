#include "supervisor/instruments/probes/function_copies.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace sp::supervisor {
namespace {

using core::Address;
using core::TimePoint;

constexpr Address kStart{0x1000};
constexpr Address kCopy{0x9000};
constexpr std::uint8_t kSize = 16;              // of every block, which is one instruction
constexpr std::uint64_t kCounter = 0x40000000;  // of the first block

TimePoint at(int seconds) { return TimePoint{std::chrono::seconds(seconds)}; }
std::uint64_t counter(std::uint32_t block) { return kCounter + 8 * std::uint64_t{block}; }

/// A function of three blocks, which its copy counts in front of each one's instruction.
class FunctionCopiesTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kBlocks = 3;

  void SetUp() override {
    function_.number = 5;
    function_.bounds = {kStart, kStart + kBlocks * kSize};
    core::ControlFlowGraph graph;
    core::FunctionCopy copy;
    for (std::uint32_t i = 0; i < kBlocks; ++i) {
      core::BasicBlock block;
      block.start = kStart + i * kSize;
      block.lengths = {kSize};
      block.last = {block.start, kSize, core::Flow::ret, {}};
      graph.blocks.push_back(block);
      copy.blocks.push_back({block.start, kSize, kCopy + i * kSize, counter(i), i == 2});
      copy.blocks.back().counts_transfer = i > 0;
      copy.blocks.back().saves_flags = i == 2;
    }
    blocks_.update(function_, graph, at(0), [](const auto& block) { return block.start; });
    copy.map = {{0, 0, 0, 0, 0, 1, 0},
                {kSize, 0, kSize, 0, 0, 1, 0},
                {2 * kSize, 0, 2 * kSize, 0, 0, 1, 0}};
    core::CopyLanding landing;
    landing.at = kStart;
    landing.form = core::CopyLanding::Form::jump;
    copy.landings.push_back(landing);
    landing.at = kStart + kSize;
    landing.form = core::CopyLanding::Form::breakpoint;
    copy.landings.push_back(landing);
    copy.original = function_.bounds;
    copy.at = kCopy;
    copy.code.resize(kBlocks * kSize);
    copy.counters = kBlocks;
    copy_ = std::make_shared<const core::FunctionCopy>(std::move(copy));
  }

  void begin() { copies_.begin(function_, copy_, blocks_, {at(1)}); }

  std::uint64_t collect(std::vector<std::uint64_t> values, TimePoint now) {
    const CopyUse use = copies_.collect(
        blocks_,
        [&](std::uint64_t first, std::uint32_t count) {
          EXPECT_EQ(first, kCounter);
          EXPECT_EQ(count, copy_->counters);
          return values;
        },
        now, 0);
    used_ += use;
    return use.executions;
  }

  [[nodiscard]] std::vector<std::uint64_t> hits() const {
    std::vector<std::uint64_t> all;
    for (const ProbedBlock& block : blocks_.all()) {
      all.push_back(block.hits);
    }
    return all;
  }

  CopyUse used_;
  FunctionCopies copies_;
  BlockTable blocks_;
  ProbedFunction function_;
  CopiedFunctions::Copy copy_;
};

using Counts = std::vector<std::uint64_t>;

TEST_F(FunctionCopiesTest, know_the_function_from_begin_to_end) {
  begin();
  EXPECT_EQ(function_.state, ProbedFunction::State::copied);
  EXPECT_EQ(copies_.all().of(kStart), copy_);
  copies_.end(function_);
  EXPECT_EQ(function_.state, ProbedFunction::State::instrumented);
  EXPECT_TRUE(copies_.all().empty());
}

TEST_F(FunctionCopiesTest, end_the_counts_of_edges) {
  blocks_[1].edges_until = at(0);
  (void)blocks_.take_changes();
  begin();
  EXPECT_EQ(blocks_[0].edges_until, at(1));
  EXPECT_EQ(blocks_[1].edges_until, at(0));  // they had ended before
  EXPECT_EQ(blocks_.take_changes().size(), kBlocks);
}

TEST_F(FunctionCopiesTest, add_what_was_counted_since_the_last_time) {
  blocks_[1].hits = 100;
  begin();
  EXPECT_EQ(collect({3, 4, 0}, at(2)), 7U);
  EXPECT_EQ(hits(), (Counts{3, 104, 0}));
  EXPECT_EQ(collect({3, 5, 1}, at(3)), 2U);
  EXPECT_EQ(hits(), (Counts{3, 105, 1}));
  EXPECT_EQ(blocks_[0].executions, 3U);
}

TEST_F(FunctionCopiesTest, count_blocks_that_have_no_probe) {
  blocks_[1].probe = Address{};
  begin();
  (void)collect({3, 4, 5}, at(2));
  EXPECT_EQ(blocks_.take_changes().size(), kBlocks);
  EXPECT_EQ(blocks_[1].since, at(0));  // the function has not run before
  blocks_.end_copied(function_, at(3));
  EXPECT_EQ(blocks_[1].until, at(3));
  EXPECT_FALSE(blocks_[0].until);  // its probe counts it
}

TEST_F(FunctionCopiesTest, count_blocks_that_have_no_probe_from_then_on) {
  blocks_[0].executions = 7;
  blocks_[1].probe = Address{};
  begin();
  EXPECT_EQ(blocks_[1].since, at(1));
  const BlockTable child = blocks_.forked();
  EXPECT_FALSE(child[1].is_copied);
}

TEST_F(FunctionCopiesTest, tell_what_came_from_the_original_by_a_jump) {
  begin();
  (void)collect({10, 20, 40}, at(2));
  EXPECT_EQ(used_.executions, 70U);
  EXPECT_EQ(used_.arrivals, 10U);
  (void)collect({11, 20, 41}, at(3));
  EXPECT_EQ(used_.arrivals, 11U);
  const auto uses = copies_.take_uses();
  ASSERT_EQ(uses.size(), 1U);
  EXPECT_EQ(uses[0].function, 5U);
  EXPECT_EQ(uses[0].use.executions, 72U);
  EXPECT_EQ(uses[0].use.arrivals, 11U);
  EXPECT_EQ(uses[0].use.emulated_calls, 41U);
  EXPECT_EQ(uses[0].use.transfers, 61U);
  EXPECT_EQ(uses[0].use.transfers_with_flags, 41U);
  EXPECT_EQ(uses[0].use.cost, used_.cost);
  EXPECT_EQ(copies_.take_uses().at(0).use.executions, 0U);
}

TEST_F(FunctionCopiesTest, date_the_first_and_the_last_hits) {
  begin();
  collect({1, 0, 0}, at(2));
  collect({2, 0, 0}, at(3));
  collect({2, 1, 0}, at(4));
  EXPECT_EQ(blocks_[0].first_hit, at(2));
  EXPECT_EQ(blocks_[0].last_hit, at(3));
  EXPECT_EQ(blocks_[1].first_hit, at(4));
}

TEST_F(FunctionCopiesTest, leave_blocks_whose_counts_ended) {
  blocks_[1].hits = 9;
  blocks_[1].until = at(0);
  (void)blocks_.take_changes();
  begin();
  EXPECT_EQ(blocks_[1].edges_until, std::nullopt);
  EXPECT_EQ(collect({2, 3, 4}, at(2)), 6U);
  EXPECT_EQ(hits(), (Counts{2, 9, 4}));
}

TEST_F(FunctionCopiesTest, count_nothing_of_a_function_that_has_ended) {
  begin();
  collect({1, 1, 1}, at(2));
  copies_.end(function_);
  EXPECT_EQ(collect({5, 5, 5}, at(3)), 0U);
  EXPECT_EQ(hits(), (Counts{1, 1, 1}));
}

TEST_F(FunctionCopiesTest, keep_the_counts_under_another_copy_of_the_same_code) {
  begin();
  collect({2, 0, 0}, at(2));
  const auto other = std::make_shared<const core::FunctionCopy>(*copy_);
  copies_.replace(other);
  EXPECT_EQ(copies_.all().of(kStart), other);
  EXPECT_EQ(collect({3, 0, 0}, at(3)), 1U);
  EXPECT_EQ(hits(), (Counts{3, 0, 0}));
}

TEST_F(FunctionCopiesTest, add_adjustments_once) {
  begin();
  copies_.correct({counter(1), 1, 0, 0, 0});
  EXPECT_EQ(collect({0, 2, 0}, at(2)), 3U);
  EXPECT_EQ(collect({0, 2, 0}, at(3)), 0U);
  EXPECT_EQ(hits(), (Counts{0, 3, 0}));
}

TEST_F(FunctionCopiesTest, take_off_an_adjustment_when_the_copy_has_counted) {
  begin();
  copies_.correct({counter(0), -1, 0, 0, 0});
  EXPECT_EQ(collect({0, 0, 0}, at(2)), 0U);
  EXPECT_EQ(hits(), (Counts{0, 0, 0}));
  EXPECT_EQ(collect({1, 0, 0}, at(3)), 0U);
  EXPECT_EQ(collect({3, 0, 0}, at(4)), 2U);
  EXPECT_EQ(hits(), (Counts{2, 0, 0}));
}

TEST_F(FunctionCopiesTest, keep_what_was_taken_before_an_adjustment) {
  begin();
  collect({4, 0, 0}, at(2));
  copies_.correct({counter(0), -1, 0, 0, 0});  // one of the four will be counted again
  EXPECT_EQ(collect({4, 0, 0}, at(3)), 0U);
  EXPECT_EQ(collect({5, 0, 0}, at(4)), 0U);
  EXPECT_EQ(collect({6, 0, 0}, at(5)), 1U);
  EXPECT_EQ(hits(), (Counts{5, 0, 0}));
}

TEST_F(FunctionCopiesTest, sum_adjustments) {
  begin();
  copies_.correct({counter(2), 1, 0, 0, 0});
  copies_.correct({counter(2), -1, 0, 0, 0});
  copies_.correct({counter(2), 0, 0, 0, 0});
  copies_.correct({counter(0), 1, 0, 0, 0});
  copies_.correct({counter(0), 1, 0, 0, 0});
  EXPECT_EQ(collect({0, 0, 0}, at(2)), 2U);
  EXPECT_EQ(hits(), (Counts{2, 0, 0}));
}

/// Four blocks of one jump or branch each: 0 branches to 3 or goes on to 1, which branches to 0 or
/// goes on to 2, which jumps to 0; 3 returns. Two leads to by 0 and 1 are told by blocks 3 and 2.
class WaysOfFunctionCopiesTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kBlocks = 4;

  void SetUp() override {
    function_.bounds = {kStart, start_of(kBlocks)};
    core::ControlFlowGraph graph;
    core::FunctionCopy copy;
    const std::array<core::Flow, kBlocks> flows = {core::Flow::branch, core::Flow::branch,
                                                   core::Flow::jump, core::Flow::ret};
    const std::array<std::uint32_t, kBlocks> targets = {3, 0, 0, 0};
    for (std::uint32_t i = 0; i < kBlocks; ++i) {
      core::BasicBlock block;
      block.start = start_of(i);
      block.lengths = {kSize};
      block.last = {block.start, kSize, flows.at(i), {}};
      if (flows.at(i) != core::Flow::ret) {
        block.last.target = start_of(targets.at(i));
      }
      graph.blocks.push_back(block);
      copy.blocks.push_back({block.start, kSize, kCopy + i * kSize, counter(i), false});
    }
    copy.branches = {
        {0, core::CopiedBranch::Counted::taken_by_block, start_of(3), start_of(1), counter(3)},
        {1, core::CopiedBranch::Counted::next, start_of(0), start_of(2), counter(4)}};
    copy.counters = kBlocks + 1;
    blocks_.update(function_, graph, at(0), [](const auto& block) { return block.start; });
    copy.original = function_.bounds;
    copy.at = kCopy;
    copy_ = std::make_shared<const core::FunctionCopy>(std::move(copy));
    copies_.begin(function_, copy_, blocks_, {at(1)});
  }

  static Address start_of(std::uint32_t block) { return kStart + block * kSize; }

  using Edges = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>;
  Edges collect(std::vector<std::uint64_t> values, std::uint64_t in_blocks = 0) {
    (void)copies_.collect(
        blocks_, [&](std::uint64_t, std::uint32_t) { return values; }, at(2), in_blocks);
    Edges edges;
    for (const EdgeCounts::Edge& edge : copies_.take_edges()) {
      edges[{static_cast<std::uint32_t>((edge.from - kStart) / kSize),
             static_cast<std::uint32_t>((edge.to - kStart) / kSize)}] = edge.hits;
    }
    return edges;
  }

  FunctionCopies copies_;
  BlockTable blocks_;
  ProbedFunction function_;
  CopiedFunctions::Copy copy_;
};

TEST_F(WaysOfFunctionCopiesTest, follow_from_the_counters) {
  EXPECT_EQ(collect({10, 7, 4, 3, 4}),
            (Edges{{{0, 1}, 7}, {{0, 3}, 3}, {{1, 0}, 3}, {{1, 2}, 4}, {{2, 0}, 4}}));
  EXPECT_EQ(collect({10, 7, 4, 3, 4}), Edges{});
  EXPECT_EQ(collect({12, 9, 5, 3, 5}), (Edges{{{0, 1}, 2}, {{1, 0}, 1}, {{1, 2}, 1}, {{2, 0}, 1}}));
}

TEST_F(WaysOfFunctionCopiesTest, end_only_where_they_are_not_counted) {
  EXPECT_FALSE(blocks_[0].edges_until);
  EXPECT_FALSE(blocks_[1].edges_until);
  EXPECT_FALSE(blocks_[2].edges_until);
  EXPECT_EQ(blocks_[3].edges_until, at(1));  // it returns
}

TEST_F(WaysOfFunctionCopiesTest, wait_for_threads_that_may_be_within_blocks) {
  EXPECT_EQ(collect({10, 7, 4, 3, 4}, 2),
            (Edges{{{0, 1}, 5}, {{0, 3}, 3}, {{1, 0}, 1}, {{1, 2}, 4}, {{2, 0}, 2}}));
  EXPECT_EQ(collect({10, 7, 4, 3, 4}), (Edges{{{0, 1}, 2}, {{1, 0}, 2}, {{2, 0}, 2}}));
}

TEST_F(WaysOfFunctionCopiesTest, take_no_arrival_from_outside_for_a_way) {
  copies_.note_arrival(*copy_, start_of(3));
  copies_.note_arrival(*copy_, start_of(3) + 1);  // none
  EXPECT_EQ(collect({10, 7, 4, 4, 4}),
            (Edges{{{0, 1}, 7}, {{0, 3}, 3}, {{1, 0}, 3}, {{1, 2}, 4}, {{2, 0}, 4}}));
}

TEST_F(WaysOfFunctionCopiesTest, leave_out_executions_that_were_left_elsewhere) {
  copies_.correct({counter(0), 0, 0, -1, 0});
  copies_.correct({counter(2), 0, 0, -1, 0});
  copies_.correct({counter(3), 0, -1, 0, counter(4)});
  EXPECT_EQ(collect({10, 7, 4, 3, 3}),
            (Edges{{{0, 1}, 5}, {{0, 3}, 4}, {{1, 0}, 3}, {{1, 2}, 4}, {{2, 0}, 3}}));
}

TEST_F(WaysOfFunctionCopiesTest, end_where_a_thread_leaves_a_block_unseen) {
  (void)collect({10, 7, 4, 3, 4});
  copies_.end_edges_of(*copy_, start_of(1) + 1, blocks_, at(3));
  EXPECT_EQ(blocks_[1].edges_until, at(3));
  EXPECT_EQ(collect({11, 8, 5, 3, 5}), (Edges{{{0, 1}, 1}, {{2, 0}, 1}}));
}

TEST_F(WaysOfFunctionCopiesTest, know_what_went_on_in_the_original) {
  copies_.count_edge(start_of(0), start_of(1), core::EdgeFlow::fallthrough, at(2));
  EXPECT_EQ(collect({0, 0, 0, 0, 0}), (Edges{{{0, 1}, 1}}));
}

// The first block goes on by a table of the copy's own.
TEST_F(FunctionCopiesTest, count_each_entry_of_a_table_as_a_way_on) {
  const Address outside{0x5000};
  auto copy = std::make_shared<core::FunctionCopy>(*copy_);
  copy->tables = {{1, 0, counter(kBlocks),
                   std::make_shared<const std::vector<Address>>(
                       std::vector<Address>{kStart, outside, kStart})}};
  copy->counters = kBlocks + 3;
  copy_ = copy;
  begin();
  (void)collect({10, 9, 0, 4, 3, 2}, at(2));
  copies_.correct({counter(1), 0, 0, 0, 0, counter(kBlocks + 1)});  // went back in front of it
  (void)collect({10, 9, 0, 5, 3, 2}, at(3));
  std::map<Address, std::uint64_t> ways;
  for (const auto& edge : copies_.take_edges()) {
    EXPECT_EQ(edge.from, kStart + kSize);
    ways[edge.to] += edge.hits;
  }
  EXPECT_EQ(ways, (std::map<Address, std::uint64_t>{{kStart, 7}, {outside, 2}}));
  (void)collect({10, 9, 0, 5, 4, 2}, at(4));  // the one that was taken back comes again
  const auto again = copies_.take_edges();
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].to, outside);
  EXPECT_EQ(used_.transfers, 0U) << "they are cheaper";
}

}  // namespace
}  // namespace sp::supervisor
