#include "supervisor/sampling/throttle.h"

#include <gtest/gtest.h>

namespace sp::supervisor {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Throttle, keeps_the_wish_where_the_budget_allows_it) {
  const Throttle throttle(microseconds(100), 25);
  EXPECT_EQ(throttle.interval(microseconds(5), 0), microseconds(100));
}

TEST(Throttle, leaves_the_target_three_quarters_of_the_only_cpu) {
  Throttle throttle(microseconds(100), 0);
  throttle.shared_cpu(microseconds(10));
  EXPECT_EQ(throttle.interval(microseconds(500), 0), microseconds(100));
  throttle.shared_cpu(milliseconds(40));  // once
  EXPECT_EQ(throttle.interval(microseconds(500), 0), microseconds(100));
  for (int i = 0; i < 200; ++i) {
    throttle.shared_cpu(microseconds(50));
  }
  EXPECT_NEAR(static_cast<double>(throttle.interval(microseconds(5), 0).count()), 200'000, 1'000);
}

TEST(Throttle, stretches_the_interval_to_hold_the_budget) {
  const Throttle throttle(microseconds(1), 25);
  EXPECT_EQ(throttle.interval(microseconds(5), 0), microseconds(20));
  EXPECT_EQ(Throttle(microseconds(1), 5).interval(microseconds(5), 0), microseconds(100));
}

TEST(Throttle, has_no_limit_at_zero) {
  const Throttle throttle(microseconds(1), 0);
  EXPECT_EQ(throttle.interval(milliseconds(5), 0.9), microseconds(1));
}

TEST(Throttle, leaves_out_what_our_own_computing_used) {
  const Throttle throttle(microseconds(1), 25);
  EXPECT_EQ(throttle.interval(microseconds(10), 0.05), microseconds(50));
  // However much that is, a tenth of the budget is for stops: something is to be seen.
  EXPECT_EQ(throttle.interval(microseconds(10), 0.9), microseconds(400));
}

TEST(Throttle, slows_down_when_samples_were_dropped_and_recovers) {
  Throttle throttle(microseconds(100), 0);
  throttle.samples_were_dropped();
  EXPECT_EQ(throttle.interval(microseconds(5), 0), microseconds(150));
  for (int i = 0; i < 100; ++i) {
    throttle.window_was_clean();
  }
  EXPECT_EQ(throttle.interval(microseconds(5), 0), microseconds(100));
}

TEST(Throttle, never_falls_asleep) {
  Throttle throttle(milliseconds(1), 0.001);
  for (int i = 0; i < 100; ++i) {
    throttle.samples_were_dropped();
  }
  EXPECT_EQ(throttle.interval(milliseconds(50), 0), seconds(1));
  // Unless that is what was asked for.
  EXPECT_EQ(Throttle(seconds(5), 25).interval(microseconds(5), 0), seconds(5));
}

}  // namespace
}  // namespace sp::supervisor
