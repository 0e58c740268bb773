#include "supervisor/breakpoints/edge_counts.h"

#include <gtest/gtest.h>

namespace sp::supervisor {
namespace {

using core::Address;
using core::EdgeFlow;

core::TimePoint at(int nanoseconds) { return core::TimePoint{core::Duration{nanoseconds}}; }

TEST(EdgeCounts, an_edge_keeps_its_counter) {
  EdgeCounts counts;
  EdgeCounts::count(counts.at(Address{1}, Address{2}, EdgeFlow::jump), at(10));
  EdgeCounts::count(counts.at(Address{1}, Address{2}, EdgeFlow::jump), at(20));
  const auto taken = counts.take();
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].hits, 2U);
  EXPECT_EQ(taken[0].first, at(10));
  EXPECT_EQ(taken[0].last, at(20));
}

TEST(EdgeCounts, what_was_taken_is_not_told_again) {
  EdgeCounts counts;
  EdgeCounts::Edge& edge = counts.at(Address{1}, Address{2}, EdgeFlow::call);
  EdgeCounts::count(edge, at(10));
  EXPECT_EQ(counts.take().size(), 1U);
  EXPECT_TRUE(counts.take().empty());
  EdgeCounts::count(edge, at(30));
  const auto taken = counts.take();
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].hits, 1U);
  EXPECT_EQ(taken[0].first, at(30));
}

TEST(EdgeCounts, a_jump_to_itself_is_not_an_entry) {
  EdgeCounts counts;
  EdgeCounts::count(counts.at(Address{5}, Address{5}, EdgeFlow::jump), at(1));
  EdgeCounts::count(counts.at(Address{5}, Address{5}, EdgeFlow::entry), at(2));
  EXPECT_EQ(counts.take().size(), 2U);
}

}  // namespace
}  // namespace sp::supervisor
