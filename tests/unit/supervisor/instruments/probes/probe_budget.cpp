#include "supervisor/instruments/probes/probe_budget.h"

#include <gtest/gtest.h>

namespace sp::supervisor {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(ProbeBudget, is_half_of_the_overhead_beyond_a_first_allowance) {
  ProbeBudget budget(20);
  budget.spend(milliseconds(103));
  EXPECT_TRUE(budget.is_exceeded(milliseconds(999), {}));
  EXPECT_FALSE(budget.is_exceeded(milliseconds(1000), {}));
  EXPECT_EQ(budget.spent(), milliseconds(103));
}

TEST(ProbeBudget, has_less_where_following_the_target_costs_much) {
  ProbeBudget budget(20);
  budget.spend(milliseconds(60));
  EXPECT_FALSE(budget.is_exceeded(seconds(1), milliseconds(80)));
  EXPECT_TRUE(budget.is_exceeded(seconds(1), milliseconds(90)));
}

TEST(ProbeBudget, keeps_a_quarter_whatever_following_the_target_costs) {
  ProbeBudget budget(20);
  budget.spend(milliseconds(28));
  EXPECT_FALSE(budget.is_exceeded(seconds(1), seconds(1)));
  budget.spend(microseconds(1));
  EXPECT_TRUE(budget.is_exceeded(seconds(1), seconds(1)));
}

TEST(ProbeBudget, finds_what_counts_nothing_too_much_from_a_quarter_on) {
  ProbeBudget budget(20);
  budget.spend(milliseconds(40));
  EXPECT_FALSE(budget.is_too_much(milliseconds(10)));
  EXPECT_TRUE(budget.is_too_much(milliseconds(11)));
}

TEST(ProbeBudget, finds_little_that_counts_nothing_never_too_much) {
  ProbeBudget budget(20);
  budget.spend(milliseconds(5));
  EXPECT_FALSE(budget.is_too_much(milliseconds(5)));
}

TEST(ProbeBudget, allows_a_short_program_something) {
  ProbeBudget budget(5);
  budget.spend(milliseconds(3));
  EXPECT_FALSE(budget.is_exceeded({}, {}));
  budget.spend(microseconds(1));
  EXPECT_TRUE(budget.is_exceeded({}, {}));
}

TEST(ProbeBudget, without_a_limit_is_never_exceeded) {
  ProbeBudget budget(0);
  budget.spend(seconds(100));
  EXPECT_FALSE(budget.is_exceeded({}, {}));
  EXPECT_FALSE(budget.is_exceeded(seconds(1), {}));
  EXPECT_DOUBLE_EQ(budget.used(seconds(200)), 0.5);
}

TEST(ProbeBudget, without_a_limit_has_a_bottleneck_where_hits_take_a_third_of_the_time) {
  ProbeBudget budget(0);
  core::TimePoint now{seconds(100)};
  budget.spend(seconds(1));
  EXPECT_FALSE(budget.is_bottleneck(now));  // a short program may cost that
  budget.spend(milliseconds(10));
  EXPECT_FALSE(budget.is_bottleneck(now += milliseconds(31)));
  budget.spend(milliseconds(10));
  EXPECT_TRUE(budget.is_bottleneck(now += milliseconds(29)));
  EXPECT_FALSE(budget.is_bottleneck(now += milliseconds(29)));
}

TEST(ProbeBudget, leaves_copies_what_probes_leave_of_three_quarters) {
  ProbeBudget budget(20);
  budget.spend(milliseconds(50));
  budget.spend_in_copies(milliseconds(124));
  EXPECT_EQ(budget.limit_of_copies(milliseconds(1124)), std::nullopt);
  budget.spend_in_copies(milliseconds(2));
  const auto limit = budget.limit_of_copies(milliseconds(1126));
  ASSERT_TRUE(limit);
  EXPECT_DOUBLE_EQ(*limit, 0.1);
  EXPECT_FALSE(budget.is_exceeded(milliseconds(1126), {})) << "probes have a share of their own";
  budget.spend(milliseconds(200));
  EXPECT_DOUBLE_EQ(budget.limit_of_copies(milliseconds(1126)).value_or(1), 0);
}

TEST(ProbeBudget, without_a_limit_lets_copies_cost_anything) {
  ProbeBudget budget(0);
  budget.spend_in_copies(seconds(9));
  EXPECT_EQ(budget.limit_of_copies(seconds(10)), std::nullopt);
}

TEST(ProbeBudget, counts_copies_as_used) {
  ProbeBudget budget(50);
  budget.spend(milliseconds(100));
  budget.spend_in_copies(milliseconds(100));
  EXPECT_DOUBLE_EQ(budget.used(seconds(1)), 0.2);
}

TEST(ProbeBudget, leaves_a_quarter_for_sampling) {
  ProbeBudget budget(20);
  EXPECT_DOUBLE_EQ(budget.used({}), 0);
  budget.spend(milliseconds(50));
  EXPECT_DOUBLE_EQ(budget.used({}), 0);
  EXPECT_DOUBLE_EQ(budget.used(seconds(1)), 0.05);
  budget.spend(milliseconds(70));
  EXPECT_DOUBLE_EQ(budget.used(seconds(1)), 0.12);
  budget.spend(seconds(1));
  EXPECT_DOUBLE_EQ(budget.used(seconds(1)), 0.15);
}

TEST(HitCost, is_the_time_handled_and_the_way_to_and_fro) {
  HitCost cost;
  // Before the first batch ends, the kernel is assumed to take 8 us.
  EXPECT_EQ(cost.add(microseconds(2), {}), microseconds(10));
}

TEST(HitCost, learns_the_way_from_the_quickest_return) {
  HitCost cost;
  for (int i = 0; i < 64; ++i) {
    (void)cost.add(microseconds(2), i == 40 ? microseconds(3) : microseconds(500));
  }
  EXPECT_EQ(cost.round_trip(), microseconds(3));
  EXPECT_EQ(cost.add(microseconds(1), microseconds(500)), microseconds(7));  // at most twice that
}

TEST(HitCost, charges_the_way_of_a_quarter_of_the_hits_where_they_are_dense) {
  HitCost cost;
  for (int i = 0; i < 64; ++i) {
    (void)cost.add(microseconds(2), i == 40  ? microseconds(9)
                                    : i < 20 ? microseconds(14)
                                             : microseconds(300));
  }
  EXPECT_EQ(cost.round_trip(), microseconds(9));
  EXPECT_EQ(cost.add(microseconds(1), microseconds(14)), microseconds(15));
}

TEST(HitCost, does_not_take_the_targets_own_time_for_the_way) {
  HitCost cost;
  for (int i = 0; i < 64; ++i) {
    (void)cost.add(microseconds(2), seconds(1));
  }
  EXPECT_LE(cost.add(microseconds(1), {}), microseconds(61));
}

TEST(HitCost, keeps_the_way_it_knows_where_hits_are_rare) {
  HitCost cost;
  for (int i = 0; i < 64; ++i) {
    (void)cost.add(microseconds(2), milliseconds(1));
  }
  EXPECT_EQ(cost.add(microseconds(1), milliseconds(1)), microseconds(9));
}

TEST(HitCost, is_not_the_time_in_which_we_waited_for_a_cpu) {
  HitCost cost;
  for (int i = 0; i < 64; ++i) {
    (void)cost.add(microseconds(8), {});
  }
  EXPECT_EQ(cost.add(milliseconds(10), {}), microseconds(72));
}

TEST(HitCost, follows_a_way_that_gets_longer) {
  HitCost cost;
  for (int i = 0; i < 64; ++i) {
    (void)cost.add(microseconds(2), microseconds(3));
  }
  for (int i = 0; i < 64; ++i) {
    (void)cost.add(microseconds(2), microseconds(40));
  }
  EXPECT_EQ(cost.add(microseconds(2), microseconds(40)), microseconds(42));
}

}  // namespace
}  // namespace sp::supervisor
