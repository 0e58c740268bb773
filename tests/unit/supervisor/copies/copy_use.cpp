#include "supervisor/copies/copy_use.h"

#include <gtest/gtest.h>

#include <chrono>

namespace sp::supervisor {
namespace {

using std::chrono::milliseconds;
using Arrivals = std::vector<std::uint64_t>;

constexpr std::uint64_t kMillion = 1'000'000;

TEST(CopyPrices, are_of_what_was_done) {
  const CopyPrices prices(Arrivals{});
  EXPECT_EQ(prices.cost({.transfers = 100 * kMillion}), milliseconds(80));
  EXPECT_EQ(prices.cost({.transfers = 100 * kMillion, .transfers_with_flags = 50 * kMillion}),
            milliseconds(86));
  EXPECT_EQ(prices.cost({.events = 10 * kMillion}), milliseconds(55));
  EXPECT_EQ(prices.cost({.executions = 1000 * kMillion}), milliseconds(60));
  EXPECT_EQ(prices.cost({.branches = 1000 * kMillion}), milliseconds(60));
  EXPECT_EQ(prices.cost({.emulated_calls = 10 * kMillion}), milliseconds(85));
  EXPECT_EQ(prices.cost({.executions = 1000 * kMillion, .emulated_calls = 10 * kMillion}),
            milliseconds(145));
}

TEST(CopyPrices, ask_little_for_arrivals_by_a_few_jumps) {
  const CopyUse use{.arrivals = 1000 * kMillion};
  EXPECT_EQ(CopyPrices(Arrivals(6, 100)).cost(use), milliseconds(300));
  EXPECT_EQ(CopyPrices(Arrivals(24, 100)).cost(use), milliseconds(525));
  EXPECT_EQ(CopyPrices(Arrivals(42, 100)).cost(use), milliseconds(750));
  EXPECT_EQ(CopyPrices(Arrivals(5000, 100)).cost(use), milliseconds(750));
}

TEST(CopyPrices, look_at_the_jumps_that_are_taken_most) {
  const CopyUse use{.arrivals = 1000 * kMillion};
  Arrivals arrivals(500, 1);
  arrivals.push_back(kMillion);
  EXPECT_EQ(CopyPrices(arrivals).cost(use), milliseconds(300));
}

}  // namespace
}  // namespace sp::supervisor
