#include "supervisor/instruments/probes/function_copies.h"

#include <gtest/gtest.h>

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
    }
    blocks_.update(function_, graph, at(0), [](const auto& block) { return block.start; });
    copy.map = {{0, 0, 0, 0, 1, 0}, {kSize, kSize, 0, 0, 1, 0}, {2 * kSize, 2 * kSize, 0, 0, 1, 0}};
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
    copy_ = std::make_shared<const core::FunctionCopy>(std::move(copy));
  }

  void begin() { copies_.begin(function_, copy_, blocks_, at(1)); }

  std::uint64_t collect(std::vector<std::uint64_t> values, TimePoint now) {
    const CopyUse use = copies_.collect(
        blocks_,
        [&](std::uint64_t first, std::uint32_t count) {
          EXPECT_EQ(first, kCounter);
          EXPECT_EQ(count, kBlocks);
          return values;
        },
        now);
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
  copies_.adjust(counter(1), 1);
  EXPECT_EQ(collect({0, 2, 0}, at(2)), 3U);
  EXPECT_EQ(collect({0, 2, 0}, at(3)), 0U);
  EXPECT_EQ(hits(), (Counts{0, 3, 0}));
}

TEST_F(FunctionCopiesTest, take_off_an_adjustment_when_the_copy_has_counted) {
  begin();
  copies_.adjust(counter(0), -1);
  EXPECT_EQ(collect({0, 0, 0}, at(2)), 0U);
  EXPECT_EQ(hits(), (Counts{0, 0, 0}));
  EXPECT_EQ(collect({1, 0, 0}, at(3)), 0U);
  EXPECT_EQ(collect({3, 0, 0}, at(4)), 2U);
  EXPECT_EQ(hits(), (Counts{2, 0, 0}));
}

TEST_F(FunctionCopiesTest, keep_what_was_taken_before_an_adjustment) {
  begin();
  collect({4, 0, 0}, at(2));
  copies_.adjust(counter(0), -1);  // one of the four will be counted again
  EXPECT_EQ(collect({4, 0, 0}, at(3)), 0U);
  EXPECT_EQ(collect({5, 0, 0}, at(4)), 0U);
  EXPECT_EQ(collect({6, 0, 0}, at(5)), 1U);
  EXPECT_EQ(hits(), (Counts{5, 0, 0}));
}

TEST_F(FunctionCopiesTest, sum_adjustments) {
  begin();
  copies_.adjust(counter(2), 1);
  copies_.adjust(counter(2), -1);
  copies_.adjust(counter(2), 0);
  copies_.adjust(counter(0), 1);
  copies_.adjust(counter(0), 1);
  EXPECT_EQ(collect({0, 0, 0}, at(2)), 2U);
  EXPECT_EQ(hits(), (Counts{2, 0, 0}));
}

TEST_F(FunctionCopiesTest, adjust_for_threads_that_go_on_at_a_landing) {
  begin();
  copies_.adjust_at(*copy_, kStart + kSize, true);
  copies_.adjust_at(*copy_, kStart, false);
  copies_.adjust_at(*copy_, kStart + 2 * kSize + 1, true);  // no instruction
  EXPECT_EQ(collect({1, 1, 1}, at(2)), 2U);
  EXPECT_EQ(hits(), (Counts{1, 0, 1}));
}

}  // namespace
}  // namespace sp::supervisor
