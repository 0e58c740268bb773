#include "supervisor/instruments/probes/dear_copies.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace sp::supervisor {
namespace {

using std::chrono::milliseconds;
using Numbers = std::vector<std::uint32_t>;
using Uses = std::vector<FunctionCopies::FunctionUse>;

/// Costs so many milliseconds; `dear`: it counted ten times less for that.
FunctionCopies::FunctionUse use(std::uint32_t function, std::int64_t cost_in_ms, bool dear) {
  constexpr std::uint64_t kExecutionsOfMillisecond = 10'000;
  const auto executions = static_cast<std::uint64_t>(cost_in_ms) * kExecutionsOfMillisecond;
  return {function,
          {.executions = dear ? executions / 10 : executions, .cost = milliseconds(cost_in_ms)}};
}

TEST(DearCopies, are_none_within_the_limit) {
  EXPECT_EQ(too_dear({use(1, 50, true), use(2, 30, false)}, 0.2, milliseconds(1080)), Numbers{});
}

TEST(DearCopies, go_first_that_cost_most_for_what_they_count) {
  const Uses uses{use(1, 100, false), use(2, 90, true), use(3, 100, false)};
  EXPECT_EQ(too_dear(uses, 0.25, milliseconds(1290)), Numbers{2});
  EXPECT_EQ(too_dear(uses, 0.15, milliseconds(1290)).size(), 2U);
}

TEST(DearCopies, are_all_where_nothing_is_left) {
  EXPECT_EQ(too_dear({use(1, 100, false), use(2, 90, true)}, 0, milliseconds(1190)),
            (Numbers{2, 1}));
}

TEST(DearCopies, are_none_before_the_time_that_they_took_is_known) {
  EXPECT_EQ(too_dear({use(1, 100, true), use(2, 0, false)}, 0, milliseconds(40)), Numbers{});
  EXPECT_EQ(too_dear({use(1, 100, true), use(2, 0, false)}, 0, milliseconds(200)), Numbers{1});
}

TEST(DearCopies, are_not_those_that_cost_next_to_nothing) {
  EXPECT_EQ(too_dear({use(1, 1, true), use(2, 300, false)}, 0, milliseconds(1301)), Numbers{2});
}

}  // namespace
}  // namespace sp::supervisor
