#include "supervisor/sampling/cpu_filler.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <time.h>

#include <thread>

#include "supervisor/linux/cpu_affinity.h"
#include "supervisor/linux/cpu_quota.h"

namespace sp::supervisor {
namespace {

using std::chrono::milliseconds;

const core::TimePoint kStart = core::TimePoint{} + std::chrono::hours(1);

/// A scan each millisecond, each of which finds `running` threads and `changes` more.
bool scans(CpuFiller& filler, int count, std::size_t running, std::uint64_t changes,
           core::TimePoint from = kStart) {
  bool fills = false;
  for (int i = 1; i <= count; ++i) {
    fills = filler.look(from + milliseconds(i), running, static_cast<std::uint64_t>(i) * changes);
  }
  return fills;
}

bool can_fill() { return !cpu_is_rationed() && ::getpriority(PRIO_PROCESS, 0) < 10; }

core::Duration cpu_of_process() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + core::Duration(used.tv_nsec);
}

TEST(CpuFiller, is_of_use_where_processes_start_one_after_the_other) {
  CpuFiller filler;
  EXPECT_TRUE(scans(filler, 100, 1, 1));
}

TEST(CpuFiller, is_of_no_use_where_they_run_side_by_side) {
  CpuFiller filler;
  EXPECT_FALSE(scans(filler, 100, 2, 1));
}

TEST(CpuFiller, minds_no_overlap_now_and_then) {
  CpuFiller filler;
  EXPECT_TRUE(scans(filler, 100, 1, 1));
  EXPECT_TRUE(filler.look(kStart + milliseconds(101), 2, 101));
}

TEST(CpuFiller, is_of_no_use_where_few_start_or_none_any_more) {
  CpuFiller none;
  EXPECT_FALSE(scans(none, 100, 1, 0));
  CpuFiller filler;
  EXPECT_TRUE(scans(filler, 100, 1, 1));
  EXPECT_FALSE(filler.look(kStart + milliseconds(200), 1, 100));
}

TEST(CpuFiller, lets_the_target_visit_its_cpu_but_not_stay) {
  CpuFiller filler;
  EXPECT_TRUE(filler.is_in_the_way(0)) << "nothing is filled";
  if (!can_fill()) {
    GTEST_SKIP() << "the CPU is rationed, or our priority is low";
  }
  filler.fill(core::Clock::now(), only_cpu(0));
  for (int visit = 0; visit < 3; ++visit) {
    EXPECT_FALSE(filler.is_in_the_way(0));
  }
  EXPECT_TRUE(filler.is_in_the_way(0));
  EXPECT_FALSE(filler.is_in_the_way(1));
}

TEST(CpuFiller, uses_a_cpu_until_it_is_forgotten) {
  if (!can_fill()) {
    GTEST_SKIP() << "the CPU is rationed, or our priority is low";
  }
  CpuFiller filler;
  const core::Duration before = cpu_of_process();
  // Behind everybody else, it may not get the CPU for long.
  while (cpu_of_process() - before < milliseconds(60)) {
    filler.fill(core::Clock::now(), only_cpu(0));
    std::this_thread::sleep_for(milliseconds(5));
  }
  std::this_thread::sleep_for(milliseconds(100));
  const core::Duration forgotten = cpu_of_process();
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_LT(cpu_of_process() - forgotten, milliseconds(50));
}

}  // namespace
}  // namespace sp::supervisor
