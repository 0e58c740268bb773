#include "supervisor/sampling/tick_plan.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

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
  CostMeter meter;
  TickCounts counts;
  TickPlan plan{microseconds(100), 0, true, meter, counts};
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

/// The ticks of a target that computes for the first `busy` of each `period`, for `all`.
struct Ticks {
  std::uint64_t made = 0;
  std::uint64_t weights = 0;         // of all
  std::uint64_t weights_on_cpu = 0;  // of those that found it computing
};
Ticks ticks_of(core::Duration busy, core::Duration period, core::Duration all) {
  const core::TimePoint start = core::Clock::now();
  CostMeter meter;
  TickCounts counts;
  TickPlan plan(microseconds(100), 0, true, meter, counts);
  plan.begin(start);
  Ticks ticks;
  for (core::TimePoint now = start; now < start + all;) {
    const core::Duration since = now - start;
    const bool computes = since % period < busy;
    counts.target_cpu = (since / period * busy + std::min(since % period, busy)).count();
    plan.account(now, {1, 1, computes ? 1U : 0U, false}, 2);
    ++ticks.made;
    ticks.weights += plan.weight();
    ticks.weights_on_cpu += computes ? plan.weight() : 0;
    now = plan.next(now, now, 1, false);
  }
  EXPECT_EQ(counts.ticks, ticks.weights);
  return ticks;
}

TEST(TickPlan, spaces_out_the_ticks_of_a_sleeper_each_of_which_stands_for_many) {
  const Ticks ticks = ticks_of({}, seconds(1), seconds(100));
  EXPECT_LT(ticks.made, 70'000U);  // of a million; 20,000 of these while it may have been busy
  EXPECT_NEAR(static_cast<double>(ticks.weights), 1e6, 2e4);
}

TEST(TickPlan, finds_a_target_that_computes_now_and_then_as_often_as_by_ticks_without_pause) {
  const Ticks ticks = ticks_of(microseconds(300), milliseconds(37), seconds(1000));
  EXPECT_LT(ticks.made, 3'000'000U);  // of ten million
  EXPECT_NEAR(static_cast<double>(ticks.weights_on_cpu), 1e7 * 0.3 / 37, 1e7 * 0.3 / 37 / 20);
}

TEST(TickPlan, misses_no_tick_of_a_target_that_computes_all_the_time) {
  const Ticks ticks = ticks_of(seconds(1), seconds(1), seconds(10));
  EXPECT_EQ(ticks.made, ticks.weights);
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
    TickPlan plan(microseconds(1), 20, true, meter, counts);
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

/// Ticks in 200 ms, each of which saw so many threads run, while another thread of ours computes.
core::Duration charged_beside(std::size_t running, int cpus) {
  CostMeter meter;
  TickCounts counts;
  TickPlan plan(microseconds(100), 20, true, meter, counts);
  const core::TimePoint start = core::Clock::now();
  plan.begin(start, ::gettid());
  std::thread([] {
    while (core::thread_cpu_time() < milliseconds(20)) {
    }
  }).join();
  for (int tick = 1; tick <= 200; ++tick) {
    plan.account(start + milliseconds(tick), {running, running, running, false}, cpus);
  }
  return meter.stopped();
}

TEST(TickPlan, charges_what_we_compute_where_the_target_could_use_every_cpu) {
  EXPECT_GE(charged_beside(2, 2), milliseconds(15));
  EXPECT_EQ(charged_beside(1, 2), core::Duration{});
}

}  // namespace
}  // namespace sp::supervisor
