#include "supervisor/sampling/thread_scan.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "supervisor/sampling/ticker_scan.h"

namespace sp::supervisor {
namespace {

/// Scans this process: the thread that scans is running.
struct ScanOfThisThread : ::testing::Test {
  std::shared_ptr<SampleSlot> add_slot() {
    auto slot =
        std::make_shared<SampleSlot>(core::ProcessId{::getpid(), 1}, core::ThreadId{::gettid(), 1});
    slots.add(slot);
    return slot;
  }

  SampleSlots slots;
  core::Channel<core::StopEvent> events{8};
  TickCounts counts;
  ThreadScan scan{slots, std::chrono::microseconds(100), false, events, counts};
};

TEST_F(ScanOfThisThread, finds_the_thread_and_its_cpu) {
  const auto slot = add_slot();
  const auto seen = scan.scan(core::Clock::now());
  EXPECT_EQ(seen.scanned, 1U);
  EXPECT_EQ(seen.on_cpu, 1U);
  ASSERT_EQ(scan.running().size(), 1U);
  EXPECT_EQ(scan.any_running(), slot);
  EXPECT_EQ(scan.busy_cpus(), 1U);
  ASSERT_NE(scan.any_on_cpu(), nullptr);
  EXPECT_EQ(scan.any_on_cpu()->cpu, scan.running()[0].cpu);
}

TEST_F(ScanOfThisThread, counts_a_thread_with_a_pending_stop_apart) {
  const auto slot = add_slot();
  slot->state = SlotState::stop_pending;
  EXPECT_EQ(scan.scan(core::Clock::now()).on_cpu, 1U);
  EXPECT_TRUE(scan.running().empty());
  EXPECT_EQ(counts.while_in_flight, 1U);
  ASSERT_NE(scan.any_on_cpu(), nullptr);
  EXPECT_EQ(scan.any_on_cpu()->slot, slot);
}

TEST_F(ScanOfThisThread, leaves_out_threads_that_are_stepped_or_not_sampled_or_gone) {
  add_slot()->stepped = true;
  add_slot()->state = SlotState::not_sampled;
  slots.remove(add_slot());
  const auto seen = scan.scan(core::Clock::now());
  EXPECT_EQ(seen.threads, 2U);
  EXPECT_EQ(seen.on_cpu, 0U);
  EXPECT_EQ(scan.any_on_cpu(), nullptr);
  EXPECT_EQ(scan.busy_cpus(), 1U);
}

TEST_F(ScanOfThisThread, takes_a_window_of_many_threads) {
  for (int i = 0; i < 40; ++i) {
    add_slot();
  }
  const auto seen = scan.scan(core::Clock::now());
  EXPECT_EQ(seen.scanned, 8U);
  EXPECT_EQ(seen.threads, 40U);
  EXPECT_EQ(seen.on_cpu, 8U);
}

TEST_F(ScanOfThisThread, is_refined_by_the_ticker_to_one_cpu) {
  const auto slot = add_slot();
  TickerScan of_ticker(scan);
  EXPECT_FALSE(of_ticker.scan(-1).has_value());
  EXPECT_FALSE(of_ticker.found_any());  // there was no scan of the timer before
  (void)scan.scan(core::Clock::now());
  EXPECT_TRUE(of_ticker.scan(-1).has_value());
  EXPECT_FALSE(of_ticker.found_any());
  slot->state = SlotState::stop_pending;
  EXPECT_FALSE(of_ticker.scan(-1).has_value());
}

}  // namespace
}  // namespace sp::supervisor
