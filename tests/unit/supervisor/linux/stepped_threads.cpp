#include "supervisor/linux/stepped_threads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

namespace sp::supervisor {
namespace {

bool is_listed(const SteppedThreads& threads, pid_t tid) {
  return std::count(threads.tids.begin(), threads.tids.end(), tid) > 0;
}

TEST(SteppedThreads, are_listed_until_they_are_removed) {
  const auto threads = std::make_unique<SteppedThreads>();
  threads->add(17);
  EXPECT_TRUE(is_listed(*threads, 17));
  threads->remove(17);
  EXPECT_FALSE(is_listed(*threads, 17));
}

TEST(SteppedThreads, are_listed_once_however_often_they_step) {
  const auto threads = std::make_unique<SteppedThreads>();
  threads->add(17);
  threads->add(17);
  EXPECT_EQ(std::count(threads->tids.begin(), threads->tids.end(), 17), 1);
}

TEST(SteppedThreads, of_tids_with_the_same_entry_are_all_listed) {
  constexpr pid_t kEntries = SteppedThreads::kEntries;
  const auto threads = std::make_unique<SteppedThreads>();
  threads->add(kEntries - 1);
  threads->add(2 * kEntries - 1);
  threads->remove(kEntries - 1);
  EXPECT_TRUE(is_listed(*threads, 2 * kEntries - 1));
  threads->remove(2 * kEntries - 1);
  EXPECT_FALSE(is_listed(*threads, 2 * kEntries - 1));
}

}  // namespace
}  // namespace sp::supervisor
