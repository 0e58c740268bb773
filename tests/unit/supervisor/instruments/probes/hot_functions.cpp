#include "supervisor/instruments/probes/hot_functions.h"

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <vector>

namespace sp::supervisor {
namespace {

using core::Address;
using Numbers = std::vector<std::uint32_t>;

constexpr core::TimePoint kNow{std::chrono::seconds(5)};

ProbedFunction function(std::uint32_t number, std::uint64_t size) {
  ProbedFunction function;
  function.number = number;
  function.state = ProbedFunction::State::instrumented;
  function.bounds = {Address{0x1000}, Address{0x1000 + size}};
  return function;
}

void hit(HotFunctions& hot, ProbedFunction& function, std::uint64_t times) {
  for (std::uint64_t i = 0; i < times; ++i) {
    hot.note_hit(function, kNow);
  }
}

TEST(HotFunctions, are_due_once_their_probes_have_cost_as_much_as_a_copy) {
  HotFunctions hot;
  hot.enable();
  ProbedFunction known = function(7, 640);
  const std::uint64_t worth = HotFunctions::hits_worth_a_copy(640);
  hit(hot, known, worth - 1);
  EXPECT_FALSE(hot.any());
  hit(hot, known, 1);
  EXPECT_TRUE(hot.any());
  EXPECT_EQ(hot.take(), Numbers{7});
  EXPECT_EQ(known.hits, worth);
}

TEST(HotFunctions, are_due_once_only) {
  HotFunctions hot;
  hot.enable();
  ProbedFunction known = function(7, 64);
  hit(hot, known, 100);
  EXPECT_EQ(hot.take(), Numbers{7});
  hit(hot, known, 100);
  EXPECT_FALSE(hot.any());
  EXPECT_EQ(hot.take(), Numbers{});
}

TEST(HotFunctions, come_in_the_order_in_which_they_became_due) {
  HotFunctions hot;
  hot.enable();
  ProbedFunction large = function(1, 64000);
  ProbedFunction small = function(2, 64);
  for (int i = 0; i < 2000; ++i) {
    hot.note_hit(large, kNow);
    hot.note_hit(small, kNow);
  }
  EXPECT_EQ(hot.take(), (Numbers{2, 1}));
}

TEST(HotFunctions, are_not_those_that_cannot_be_copied) {
  HotFunctions hot;
  hot.enable();
  ProbedFunction known = function(7, 64);
  known.refusal = core::CopyRefusal::unmovable;
  hit(hot, known, 100);
  EXPECT_FALSE(hot.any());
}

TEST(HotFunctions, come_again_if_postponed) {
  HotFunctions hot;
  hot.enable();
  hot.postpone(3);
  EXPECT_TRUE(hot.any());
  EXPECT_EQ(hot.take(), Numbers{3});
  EXPECT_FALSE(hot.any());
}

TEST(HotFunctions, keep_their_probes_for_a_moment_after_they_became_due) {
  HotFunctions hot;
  ProbedFunction known = function(7, 64);
  known.state = ProbedFunction::State::instrumented;
  EXPECT_FALSE(hot.make_due(known, kNow)) << "nothing is to be copied";
  hot.enable();
  EXPECT_TRUE(hot.make_due(known, kNow));
  EXPECT_TRUE(hot.make_due(known, kNow + std::chrono::milliseconds(100)));
  EXPECT_EQ(hot.take(), Numbers{7}) << "once";
  EXPECT_FALSE(hot.make_due(known, kNow + std::chrono::seconds(1)));
  known.refusal = core::CopyRefusal::unmovable;
  known.due_since = std::nullopt;
  EXPECT_FALSE(hot.make_due(known, kNow));
}

TEST(HotFunctions, become_due_anew_in_a_child) {
  HotFunctions parent;
  parent.enable();
  std::deque<ProbedFunction> functions{function(7, 64)};
  hit(parent, functions[0], 100);
  HotFunctions child;
  child.enable();
  hit(child, functions[0], 100);
  EXPECT_FALSE(child.any());
  child.forget_due(functions);
  hit(child, functions[0], 100);
  EXPECT_EQ(child.take(), Numbers{7});
}

TEST(HotFunctions, are_due_once_after_they_were_forgotten) {
  HotFunctions hot;
  hot.enable();
  std::deque<ProbedFunction> functions{function(7, 64)};
  hit(hot, functions[0], 100);
  hot.forget_due(functions);
  EXPECT_FALSE(hot.any());
  hit(hot, functions[0], 100);
  EXPECT_EQ(hot.take(), Numbers{7});
}

TEST(HotFunctions, take_more_hits_the_larger_they_are) {
  EXPECT_GT(HotFunctions::hits_worth_a_copy(0), 1U);
  EXPECT_LT(HotFunctions::hits_worth_a_copy(100), HotFunctions::hits_worth_a_copy(1000));
}

}  // namespace
}  // namespace sp::supervisor
