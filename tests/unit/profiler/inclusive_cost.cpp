#include "profiler/inclusive_cost.h"

#include <gtest/gtest.h>

#include <vector>

namespace sp::profiler {
namespace {

using Costs = std::vector<std::uint64_t>;

Costs costs(const Costs& self, const std::vector<CallArc>& arcs, Costs calls = {}) {
  calls.resize(self.size());
  return shared_out_costs(self, calls, arcs);
}

TEST(InclusiveCost, goes_to_callers_by_their_calls) {
  // 0 and 1 call 2, which calls 3.
  EXPECT_EQ(costs({1, 1, 30, 10}, {{0, 2, 3}, {1, 2, 1}, {2, 3, 5}}), (Costs{30, 10, 10}));
}

TEST(InclusiveCost, leaves_the_share_of_callers_that_were_not_counted) {
  EXPECT_EQ(costs({1, 40}, {{0, 1, 3}}, {1, 4}), Costs{30});
}

TEST(InclusiveCost, of_recursion_is_given_once) {
  EXPECT_EQ(costs({5, 100}, {{0, 1, 1}, {1, 1, 176}}, {1, 177}), (Costs{100, 0}));
}

TEST(InclusiveCost, of_a_cycle_goes_to_who_enters_it) {
  // 0 -> 1 <-> 2 -> 3
  EXPECT_EQ(costs({1, 10, 20, 40}, {{0, 1, 1}, {1, 2, 9}, {2, 1, 8}, {2, 3, 2}}),
            (Costs{70, 60, 0, 40}));
}

TEST(InclusiveCost, of_a_long_chain_needs_no_deep_stack) {
  constexpr std::uint32_t kLength = 200'000;
  std::vector<CallArc> arcs;
  for (std::uint32_t i = 0; i + 1 < kLength; ++i) {
    arcs.push_back({i, i + 1, 1});
  }
  EXPECT_EQ(costs(Costs(kLength, 1), arcs).front(), kLength - 1);
}

}  // namespace
}  // namespace sp::profiler
