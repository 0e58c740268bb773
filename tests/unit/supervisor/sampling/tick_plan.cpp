#include "supervisor/sampling/tick_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sp::supervisor {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct TickPlanOf100us : ::testing::Test {
  core::Duration mean_gap(std::size_t busy_cpus) {
    constexpr int kTicks = 20'000;
    core::Duration sum{};
    for (int i = 0; i < kTicks; ++i) {
      sum += plan.next(start, start, busy_cpus, false) - start;
    }
    return sum / kTicks;
  }

  const core::TimePoint start = core::Clock::now();
  const CostMeter meter;
  TickCounts counts;
  TickPlan plan{microseconds(100), 0, meter, counts};
};

TEST_F(TickPlanOf100us, spreads_ticks_evenly_over_two_intervals) {
  for (int i = 0; i < 1000; ++i) {
    const auto gap = plan.next(start, start, 1, false) - start;
    ASSERT_GE(gap, core::Duration{});
    ASSERT_LT(gap, microseconds(200));
  }
  EXPECT_NEAR(static_cast<double>(mean_gap(1).count()), 100'000, 5'000);
}

TEST_F(TickPlanOf100us, gives_each_busy_cpu_a_tick_in_the_interval) {
  EXPECT_NEAR(static_cast<double>(mean_gap(4).count()), 25'000, 1'250);
}

TEST_F(TickPlanOf100us, counts_from_the_planned_time_but_does_not_make_up_for_a_long_delay) {
  const auto late = start + microseconds(50);
  EXPECT_LT(plan.next(start, late, 1, false), start + microseconds(200));
  const auto very_late = start + seconds(1);
  EXPECT_EQ(plan.next(start, very_late, 1, false), very_late - microseconds(200));
}

TEST_F(TickPlanOf100us, leaves_time_to_arm_the_ticker) {
  for (int i = 0; i < 100; ++i) {
    ASSERT_GE(plan.next(start, start, 1, true), start + 3 * kTickerLead);
  }
}

TEST_F(TickPlanOf100us, ticks_less_often_after_a_window_with_dropped_samples) {
  plan.begin(start);
  plan.sample_was_dropped();
  plan.account(start + milliseconds(100), {1, 1, 0, false}, 4);
  EXPECT_NEAR(static_cast<double>(mean_gap(1).count()), 150'000, 7'500);
  plan.account(start + milliseconds(200), {1, 1, 0, true}, 4);
  EXPECT_NEAR(static_cast<double>(mean_gap(1).count()), 225'000, 11'000);
}

TEST(TickPlan, leaves_to_following_what_it_costs_but_a_quarter_of_the_budget) {
  const core::TimePoint start = core::Clock::now();
  const auto mean_gap = [start](core::Duration following) {
    CostMeter meter;
    for (int i = 0; i < 64; ++i) {
      meter.add(microseconds(8), microseconds(10));  // 20 us with the way back
    }
    meter.add_following(following, meter.charged());
    TickCounts counts;
    counts.target_cpu = core::Duration(seconds(1)).count();
    TickPlan plan(microseconds(1), 20, meter, counts);
    constexpr int kTicks = 20'000;
    core::Duration sum{};
    for (int i = 0; i < kTicks; ++i) {
      sum += plan.next(start, start, 1, false) - start;
    }
    return static_cast<double>((sum / kTicks).count());
  };
  EXPECT_NEAR(mean_gap({}), 100'000, 5'000);  // 20 us are 20 % of it
  EXPECT_NEAR(mean_gap(milliseconds(100)), 200'000, 10'000);
  EXPECT_NEAR(mean_gap(seconds(10)), 400'000, 20'000);
}

}  // namespace
}  // namespace sp::supervisor
