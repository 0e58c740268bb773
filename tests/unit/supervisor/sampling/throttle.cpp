#include "supervisor/sampling/throttle.h"

#include <gtest/gtest.h>

namespace sp::supervisor {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

void add(CostMeter& meter, int times, core::Duration latency, core::Duration handling) {
  for (int i = 0; i < times; ++i) {
    meter.add(latency, handling);
  }
}

TEST(CostMeter, adds_up_stops) {
  CostMeter meter;
  add(meter, 100, microseconds(4), microseconds(2));
  EXPECT_EQ(meter.stops(), 100U);
  // 4 us there, a quarter of that back, 2 us in between.
  EXPECT_EQ(meter.per_stop(), microseconds(7));
  EXPECT_EQ(meter.stopped(), microseconds(700));
  EXPECT_EQ(meter.longest(), microseconds(7));
}

TEST(CostMeter, does_not_charge_the_wait_for_a_cpu_as_a_stop) {
  CostMeter meter;
  add(meter, 100, microseconds(4), microseconds(2));
  meter.add(milliseconds(50), microseconds(2));
  // At most twice the quickest, and the way back.
  EXPECT_EQ(meter.longest(), microseconds(12));
  EXPECT_LT(meter.stopped(), microseconds(720));
}

TEST(CostMeter, is_not_misled_by_a_busy_machine) {
  CostMeter meter;
  for (int i = 0; i < 50; ++i) {
    add(meter, 1, microseconds(4), microseconds(2));
    add(meter, 3, milliseconds(10), microseconds(2));
  }
  EXPECT_LE(meter.per_stop(), microseconds(12));
}

TEST(CostMeter, follows_when_stops_become_dearer) {
  CostMeter meter;
  add(meter, 100, microseconds(4), microseconds(2));
  add(meter, 100, microseconds(40), microseconds(20));
  EXPECT_EQ(meter.per_stop(), microseconds(70));
}

TEST(CostMeter, counts_what_we_do_at_a_stop_in_full) {
  CostMeter meter;
  add(meter, 40, microseconds(4), microseconds(2));
  meter.add(microseconds(4), milliseconds(3));
  EXPECT_EQ(meter.longest(), milliseconds(3) + microseconds(5));
}

TEST(CostMeter, counts_the_stops_that_woke_a_sleeper) {
  CostMeter meter;
  add(meter, 40, microseconds(4), microseconds(2));
  const auto per_stop = meter.per_stop();
  meter.add_woken(milliseconds(1));
  EXPECT_EQ(meter.stops(), 41U);
  EXPECT_EQ(meter.longest(), milliseconds(1));
  EXPECT_EQ(meter.per_stop(), per_stop);
}

TEST(Governor, keeps_the_wish_where_the_budget_allows_it) {
  const Governor governor(microseconds(100), 25);
  EXPECT_EQ(governor.interval(microseconds(5), 0), microseconds(100));
}

TEST(Governor, leaves_the_target_three_quarters_of_the_only_cpu) {
  Governor governor(microseconds(100), 0);
  governor.shared_cpu(microseconds(10));
  EXPECT_EQ(governor.interval(microseconds(500), 0), microseconds(100));
  governor.shared_cpu(milliseconds(40));  // once
  EXPECT_EQ(governor.interval(microseconds(500), 0), microseconds(100));
  for (int i = 0; i < 200; ++i) {
    governor.shared_cpu(microseconds(50));
  }
  EXPECT_NEAR(static_cast<double>(governor.interval(microseconds(5), 0).count()), 200'000, 1'000);
}

TEST(Governor, stretches_the_interval_to_hold_the_budget) {
  const Governor governor(microseconds(1), 25);
  EXPECT_EQ(governor.interval(microseconds(5), 0), microseconds(20));
  EXPECT_EQ(Governor(microseconds(1), 5).interval(microseconds(5), 0), microseconds(100));
}

TEST(Governor, has_no_limit_at_zero) {
  const Governor governor(microseconds(1), 0);
  EXPECT_EQ(governor.interval(milliseconds(5), 0.9), microseconds(1));
}

TEST(Governor, leaves_out_what_our_own_computing_used) {
  const Governor governor(microseconds(1), 25);
  EXPECT_EQ(governor.interval(microseconds(10), 0.05), microseconds(50));
  // However much that is, a tenth of the budget is for stops: something is to be seen.
  EXPECT_EQ(governor.interval(microseconds(10), 0.9), microseconds(400));
}

TEST(Governor, slows_down_when_samples_were_dropped_and_recovers) {
  Governor governor(microseconds(100), 0);
  governor.samples_were_dropped();
  EXPECT_EQ(governor.interval(microseconds(5), 0), microseconds(150));
  for (int i = 0; i < 100; ++i) {
    governor.window_was_clean();
  }
  EXPECT_EQ(governor.interval(microseconds(5), 0), microseconds(100));
}

TEST(Governor, never_falls_asleep) {
  Governor governor(milliseconds(1), 0.001);
  for (int i = 0; i < 100; ++i) {
    governor.samples_were_dropped();
  }
  EXPECT_EQ(governor.interval(milliseconds(50), 0), seconds(1));
  // Unless that is what was asked for.
  EXPECT_EQ(Governor(seconds(5), 25).interval(microseconds(5), 0), seconds(5));
}

}  // namespace
}  // namespace sp::supervisor
