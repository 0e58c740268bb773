#include "supervisor/ticker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <thread>

#include "supervisor/sample_slot.h"

namespace sp::supervisor {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

std::shared_ptr<SampleSlot> slot() {
  return std::make_shared<SampleSlot>(core::ProcessId{1, 0}, core::ThreadId{1, 0});
}

bool has_ticked(const Ticker& ticker, std::uint64_t times) {
  const auto deadline = core::Clock::now() + std::chrono::seconds(20);
  while (ticker.ticks() < times && core::Clock::now() < deadline) {
    std::this_thread::yield();
  }
  return ticker.ticks() >= times;
}

TEST(Ticker, asks_for_what_was_loaded_and_for_nothing_twice) {
  if (std::getenv("SP_TEST_PATIENCE") != nullptr) {
    GTEST_SKIP() << "this machine is too slow to be on time";
  }
  std::atomic<int> asked{0};
  const auto first = slot();
  const auto second = slot();
  // A busy machine may make it late, and then it asks for nothing: from the start, if need be.
  for (int attempt = 0; attempt < 50 && asked < 2; ++attempt) {
    asked = 0;
    Ticker ticker(
        [&](const std::shared_ptr<SampleSlot>& wanted) {
          EXPECT_EQ(wanted, asked == 0 ? first : second);
          ++asked;
        },
        core::Clock::now() + milliseconds(5), 0);
    ticker.load(first, core::Clock::now() + milliseconds(10), 0);
    ASSERT_TRUE(has_ticked(ticker, 1));
    if (asked != 1) {
      continue;
    }
    ticker.load(second, core::Clock::now() + milliseconds(5), 0);
    ASSERT_TRUE(has_ticked(ticker, 2));
    ticker.load(nullptr, core::Clock::now() + milliseconds(5), 0);
    ASSERT_TRUE(has_ticked(ticker, 3));
  }
  EXPECT_EQ(asked, 2);
}

TEST(Ticker, asks_for_nothing_where_it_was_told_too_late) {
  std::atomic<int> asked{0};
  Ticker ticker([&](const auto&) { ++asked; }, core::Clock::now(), 0);
  ASSERT_TRUE(has_ticked(ticker, 1));
  ticker.load(slot(), core::Clock::now(), 0);
  EXPECT_TRUE(ticker.ticked());
  ASSERT_TRUE(has_ticked(ticker, 2));
  EXPECT_EQ(asked, 0);
}

TEST(Ticker, ends_at_once_while_it_waits_for_its_time_or_its_load) {
  const auto before = core::Clock::now();
  {
    const Ticker waits_for_time([](const auto&) {}, before + hours(1), 0);
    const Ticker waits_for_load([](const auto&) {}, before, 0);
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_LT(core::Clock::now() - before, std::chrono::minutes(1));
}

TEST(Ticker, says_where_the_next_tick_is) {
  Ticker ticker([](const auto&) {}, core::Clock::now() + hours(1), 3);
  EXPECT_EQ(ticker.cpu(), 3);
  ticker.load(nullptr, core::Clock::now() + hours(1), 5);
  EXPECT_EQ(ticker.cpu(), 5);
  EXPECT_FALSE(ticker.ticked());
}

}  // namespace
}  // namespace sp::supervisor
