#include "supervisor/sampling/cost_meter.h"

#include <gtest/gtest.h>

namespace sp::supervisor {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

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

TEST(CostMeter, does_not_charge_an_interrupts_way_on_which_the_thread_runs_on) {
  CostMeter meter;
  add(meter, 40, microseconds(20), microseconds(2));
  meter.add(microseconds(20), microseconds(2));
  EXPECT_EQ(meter.longest(), microseconds(15));  // of 20 us and 5 us, but for 12 us; and 2 us
  EXPECT_EQ(meter.per_stop(), microseconds(27));
  const auto before = meter.stopped();
  add(meter, 1, microseconds(20), microseconds(2));
  EXPECT_EQ(meter.stopped() - before, microseconds(15));
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

TEST(CostMeter, says_its_part_of_the_targets_own_time) {
  CostMeter meter;
  EXPECT_EQ(meter.percent_of(core::Duration{}), 0);
  for (int i = 0; i < 100; ++i) {
    meter.add_woken(microseconds(30));
  }
  meter.add_counting(milliseconds(1));
  // Of 12 ms the thread counted for one and was in the kernel, for stops, for another.
  EXPECT_DOUBLE_EQ(meter.percent_of(milliseconds(12)), 40);
  // Not all of it can have been stops.
  EXPECT_DOUBLE_EQ(meter.percent_of(milliseconds(2)), 1600);
  // Nor has a program that ran for less than what we take for ours had nothing for itself.
  EXPECT_GT(meter.percent_of(microseconds(900)), 800);
}

TEST(CostMeter, takes_less_of_the_targets_time_for_the_kernels_at_a_hit_than_at_other_stops) {
  CostMeter meter;
  for (int i = 0; i < 200; ++i) {
    meter.add_hit(microseconds(20));
  }
  EXPECT_DOUBLE_EQ(meter.percent_of(microseconds(10'700)), 40);
  // Code that begins to run from a copy finds it in no cache.
  meter.add_copied(100);
  EXPECT_DOUBLE_EQ(meter.percent_of(microseconds(12'900)), 40);
}

TEST(CostMeter, charges_the_kernels_way_to_follow_as_that_of_a_sample) {
  CostMeter meter;
  add(meter, 40, microseconds(4), microseconds(2));
  const auto before = meter.stopped();
  meter.add_following(microseconds(3), meter.charged());
  EXPECT_EQ(meter.stopped() - before, microseconds(8));
  EXPECT_EQ(meter.following(), microseconds(8));
  EXPECT_EQ(meter.stops(), 40U);
}

TEST(CostMeter, charges_all_of_the_way_of_a_stop_that_nobody_asked_for) {
  CostMeter meter;
  add(meter, 40, microseconds(20), microseconds(2));
  meter.add_following({}, meter.charged());
  EXPECT_EQ(meter.following(), microseconds(25));
  CostMeter late;  // no stop was quick
  add(late, 40, microseconds(200), microseconds(2));
  late.add_following({}, late.charged());
  EXPECT_EQ(late.following(), nanoseconds(31'250));
}

TEST(CostMeter, takes_the_kernels_work_for_followers_for_none_of_the_targets) {
  CostMeter meter;
  for (int i = 0; i < 100; ++i) {
    meter.add_following(microseconds(25), meter.charged());  // and 5 for the way
  }
  EXPECT_DOUBLE_EQ(meter.percent_of(milliseconds(11)), 30);
}

TEST(CostMeter, charges_what_others_have_left_of_a_stop) {
  CostMeter meter;
  const auto charged_before = meter.charged();
  meter.add_work(microseconds(3));
  meter.add_following(microseconds(10), charged_before);
  EXPECT_EQ(meter.following(), microseconds(12));  // 5 of them for the way
  EXPECT_EQ(meter.stopped(), microseconds(15));
}

TEST(CostMeter, charges_nothing_more_for_a_stop_that_others_have_charged) {
  CostMeter meter;
  const auto charged_before = meter.charged();
  meter.add_hit(microseconds(3));
  meter.add_following(microseconds(10), charged_before);
  EXPECT_EQ(meter.stopped(), microseconds(3));
  EXPECT_EQ(meter.following(), core::Duration{});
}

}  // namespace
}  // namespace sp::supervisor
