#include "analyzer/off_cpu_time.h"

#include <gtest/gtest.h>

namespace sp::analyzer {
namespace {

constexpr core::ThreadId kThread{7, 1};
constexpr core::ThreadId kOther{8, 2};

core::Stack stack_at(std::uint64_t offset) {
  core::Stack stack;
  stack.frames.push_back({{core::ModuleId{1}, offset}, false});
  return stack;
}

TEST(OffCpuTime, knows_nothing_of_a_wait_that_it_was_not_told_of) {
  OffCpuTime ledger;
  EXPECT_FALSE(ledger.count(kThread, 1, 5));
  EXPECT_FALSE(ledger.take_held(kThread));
}

TEST(OffCpuTime, counts_ticks_with_the_stack_of_their_wait) {
  OffCpuTime ledger;
  ledger.learn(kThread, 1, "futex", stack_at(10), false);
  const auto entry = ledger.count(kThread, 1, 5);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->ticks, 5U);
  EXPECT_EQ(entry->syscall, "futex");
  EXPECT_EQ(entry->stack.frames.front().where.offset, 10U);
}

TEST(OffCpuTime, keeps_waits_and_threads_apart) {
  OffCpuTime ledger;
  ledger.learn(kThread, 1, "futex", stack_at(10), false);
  ledger.learn(kOther, 2, "read", stack_at(20), false);
  EXPECT_FALSE(ledger.count(kThread, 2, 1));
  EXPECT_EQ(ledger.count(kOther, 2, 1)->syscall, "read");
  ledger.learn(kThread, 3, "poll", stack_at(30), false);
  EXPECT_FALSE(ledger.count(kThread, 1, 1)) << "that wait is over";
  EXPECT_EQ(ledger.count(kThread, 3, 1)->syscall, "poll");
}

TEST(OffCpuTime, says_nothing_of_no_ticks) {
  OffCpuTime ledger;
  ledger.learn(kThread, 1, "futex", stack_at(10), false);
  EXPECT_FALSE(ledger.count(kThread, 1, 0));
}

TEST(OffCpuTime, holds_ticks_back_until_the_better_stack_comes) {
  OffCpuTime ledger;
  ledger.learn(kThread, 1, "futex", stack_at(10), true);
  EXPECT_FALSE(ledger.count(kThread, 1, 3));
  EXPECT_FALSE(ledger.count(kThread, 1, 4));
  ledger.learn(kThread, 1, "futex", stack_at(11), false);
  const auto entry = ledger.count(kThread, 1, 0);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->ticks, 7U);
  EXPECT_EQ(entry->stack.frames.front().where.offset, 11U);
}

TEST(OffCpuTime, gives_held_ticks_out_where_nothing_better_comes) {
  OffCpuTime ledger;
  ledger.learn(kThread, 1, "futex", stack_at(10), true);
  EXPECT_FALSE(ledger.count(kThread, 1, 3));
  const auto entry = ledger.take_held(kThread);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->ticks, 3U);
  EXPECT_EQ(entry->stack.frames.front().where.offset, 10U);
  EXPECT_FALSE(ledger.take_held(kThread)) << "once";
}

TEST(OffCpuTime, forgets_threads) {
  OffCpuTime ledger;
  ledger.learn(kThread, 1, "futex", stack_at(10), false);
  ledger.learn(kOther, 2, "read", stack_at(20), false);
  EXPECT_EQ(ledger.threads().size(), 2U);
  ledger.forget(kThread);
  EXPECT_FALSE(ledger.count(kThread, 1, 1));
  EXPECT_EQ(ledger.threads(), std::vector<core::ThreadId>{kOther});
}

}  // namespace
}  // namespace sp::analyzer
