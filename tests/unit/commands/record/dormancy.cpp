#include "commands/record/dormancy.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

namespace sp::record {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A target of one busy thread.
class WatchedRun {
 public:
  /// A second in which the target ran for a second, and we took so much.
  std::optional<double> second(milliseconds ours, core::Duration step = CostWatch::kWindow) {
    std::optional<double> found;
    for (core::Duration passed{}; passed < seconds(1); passed += step) {
      now_ += step;
      cost_.target_cpu += step;
      cost_.stopped += core::Duration(ours) * step.count() / core::Duration(seconds(1)).count();
      if (const auto percent = watch_.look(cost_, now_)) {
        found = percent;
      }
    }
    return found;
  }
  std::optional<double> begin() { return watch_.look(cost_, now_); }
  CostWatch& watch() { return watch_; }

 private:
  core::TimePoint now_{};
  core::Cost cost_;
  CostWatch watch_{30};
};

TEST(CostWatch, sees_three_dear_seconds_in_a_row) {
  WatchedRun run;
  EXPECT_FALSE(run.begin());
  EXPECT_FALSE(run.second(milliseconds(500)));
  EXPECT_FALSE(run.second(milliseconds(400)));
  const auto percent = run.second(milliseconds(600));
  ASSERT_TRUE(percent);
  EXPECT_NEAR(*percent, 50, 0.01);
  EXPECT_FALSE(run.second(milliseconds(600)));  // not again at once
}

TEST(CostWatch, looks_as_often_as_it_is_asked_but_at_seconds) {
  WatchedRun run;
  EXPECT_FALSE(run.begin());
  EXPECT_FALSE(run.second(milliseconds(500), milliseconds(50)));
  EXPECT_FALSE(run.second(milliseconds(500), milliseconds(50)));
  EXPECT_TRUE(run.second(milliseconds(500), milliseconds(50)));
}

TEST(CostWatch, one_cheap_second_begins_anew) {
  WatchedRun run;
  EXPECT_FALSE(run.begin());
  EXPECT_FALSE(run.second(milliseconds(900)));
  EXPECT_FALSE(run.second(milliseconds(900)));
  EXPECT_FALSE(run.second(milliseconds(300)));  // the limit itself is allowed
  EXPECT_FALSE(run.second(milliseconds(900)));
  EXPECT_FALSE(run.second(milliseconds(900)));
  EXPECT_TRUE(run.second(milliseconds(310)));
}

TEST(CostWatch, forgets_what_was_before_it_was_switched_off) {
  WatchedRun run;
  EXPECT_FALSE(run.begin());
  EXPECT_FALSE(run.second(milliseconds(900)));
  EXPECT_FALSE(run.second(milliseconds(900)));
  run.watch().begin_again();
  EXPECT_FALSE(run.second(milliseconds(900)));  // where it begins
  EXPECT_FALSE(run.second(milliseconds(900)));
  EXPECT_FALSE(run.second(milliseconds(900)));
  EXPECT_TRUE(run.second(milliseconds(900)));
}

TEST(CostWatch, what_copies_take_is_ours_and_not_the_targets) {
  CostWatch watch(90);
  core::Cost cost;
  core::TimePoint now{};
  EXPECT_FALSE(watch.look(cost, now));
  std::optional<double> found;
  for (int i = 0; i < CostWatch::kWindows; ++i) {
    now += seconds(1);
    cost.target_cpu += seconds(1);
    cost.counting += milliseconds(500);
    found = watch.look(cost, now);
  }
  ASSERT_TRUE(found);
  EXPECT_NEAR(*found, 100, 0.01);
}

TEST(CostWatch, a_program_that_waits_can_be_too_dear_as_well) {
  CostWatch watch(30);
  core::Cost cost;
  core::TimePoint now{};
  EXPECT_FALSE(watch.look(cost, now));
  for (int i = 0; i < CostWatch::kWindows; ++i) {
    now += seconds(1);
    EXPECT_FALSE(watch.look(cost, now));  // it costs nothing
  }
  std::optional<double> found;
  for (int i = 0; i < CostWatch::kWindows; ++i) {
    now += seconds(1);
    cost.stopped += milliseconds(2);
    found = watch.look(cost, now);
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace sp::record
