#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {
namespace {

constexpr pid_t kPid = 4'000'000;
constexpr int kThreads = 3;

class Tracees : public ::testing::Test {
 protected:
  Tracees() {
    const auto process = table_.add_process(kPid);
    for (int i = 0; i < kThreads; ++i) {
      (void)table_.add(kPid + i, process);
    }
  }

  TraceeTable table_;
};

TEST_F(Tracees, that_have_reported_to_somebody_come_next) {
  EXPECT_EQ(table_.next_left_report(), std::nullopt);
  table_.left_report(kPid + 2);
  table_.left_report(kPid);
  EXPECT_EQ(table_.next_left_report(), kPid + 2);
  EXPECT_EQ(table_.next_left_report(), kPid);
  EXPECT_EQ(table_.next_left_report(), std::nullopt);
}

TEST_F(Tracees, have_their_turn_though_others_report_all_the_time) {
  std::set<pid_t> asked;
  for (int i = 0; i < 100; ++i) {
    if (const auto tid = table_.next_left_report()) {
      asked.insert(*tid);
    }
  }
  EXPECT_EQ(asked, (std::set<pid_t>{kPid, kPid + 1, kPid + 2}));
}

}  // namespace
}  // namespace sp::supervisor
