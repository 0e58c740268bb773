#include "supervisor/sampling/ticker.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <optional>
#include <thread>
#include <vector>

namespace sp::supervisor {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

bool has_ticked(const Ticker& ticker, std::uint64_t times) {
  const auto deadline = core::Clock::now() + std::chrono::seconds(20);
  while (ticker.ticks() < times && core::Clock::now() < deadline) {
    std::this_thread::yield();
  }
  return ticker.ticks() >= times;
}

const Ticker::Ask kAskNothing = [](int) { return std::nullopt; };

TEST(Ticker, asks_on_the_cpu_and_follows_what_runs_on_another) {
  if (std::getenv("SP_TEST_PATIENCE") != nullptr) {
    GTEST_SKIP() << "this machine is too slow to be on time";
  }
  // A busy machine may make it late, and then it asks for nothing: from the start, if need be.
  std::vector<int> asked;
  const std::vector<int> wanted = {0, 1, 0};
  for (int attempt = 0; attempt < 50 && asked != wanted; ++attempt) {
    asked.clear();
    Ticker ticker(
        [&](int cpu) -> std::optional<int> {
          asked.push_back(cpu);
          return asked.size() == 1 ? std::optional(1) : std::nullopt;
        },
        core::Clock::now() + milliseconds(5), 0);
    ticker.arm(core::Clock::now() + milliseconds(10), 0);
    ASSERT_TRUE(has_ticked(ticker, 1));
    EXPECT_TRUE(ticker.ticked());
    ASSERT_TRUE(has_ticked(ticker, 2));
  }
  EXPECT_EQ(asked, wanted);
}

TEST(Ticker, does_not_follow_for_ever) {
  std::atomic<int> asked{0};
  Ticker ticker(
      [&](int cpu) -> std::optional<int> {
        ++asked;
        return 1 - cpu;
      },
      core::Clock::now(), 0);
  ASSERT_TRUE(has_ticked(ticker, 1));
  EXPECT_LE(asked, 3);
}

TEST(Ticker, ends_at_once_while_it_waits_for_its_time_or_to_be_armed) {
  const auto before = core::Clock::now();
  {
    const Ticker waits_for_time(kAskNothing, before + hours(1), 0);
    const Ticker waits_to_be_armed(kAskNothing, before, 0);
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_LT(core::Clock::now() - before, std::chrono::minutes(1));
}

TEST(Ticker, says_where_it_is) {
  Ticker ticker(kAskNothing, core::Clock::now(), 0);
  EXPECT_EQ(ticker.cpu(), 0);
  ticker.arm(core::Clock::now(), 1);
  ASSERT_TRUE(has_ticked(ticker, 2));
  EXPECT_EQ(ticker.cpu(), 1);
  EXPECT_TRUE(ticker.ticked());
}

TEST(Ticker, has_not_ticked_before_its_time) {
  Ticker ticker(kAskNothing, core::Clock::now() + hours(1), 0);
  EXPECT_TRUE(ticker.ticked());  // nothing was asked of it
  ticker.arm(core::Clock::now() + hours(1), 0);
  EXPECT_FALSE(ticker.ticked());
}

}  // namespace
}  // namespace sp::supervisor
