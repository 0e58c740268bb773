#include "supervisor/breakpoints/edge_cache.h"

#include <gtest/gtest.h>

namespace sp::supervisor {
namespace {

using core::Address;
using core::EdgeFlow;

struct EdgeCacheTest : ::testing::Test {
  EdgeCounts::Edge& edge_to(std::uint64_t to) {
    return counts.at(Address{1}, Address{to}, EdgeFlow::indirect);
  }
  EdgeCounts counts;
  EdgeCache cache;
};

TEST_F(EdgeCacheTest, is_empty_at_first) { EXPECT_EQ(cache.find(Address{0}), nullptr); }

TEST_F(EdgeCacheTest, finds_the_last_two_destinations) {
  cache.remember(Address{10}, edge_to(10));
  cache.remember(Address{20}, edge_to(20));
  EXPECT_EQ(cache.find(Address{10}), &edge_to(10));
  EXPECT_EQ(cache.find(Address{20}), &edge_to(20));
  EXPECT_EQ(cache.find(Address{30}), nullptr);
}

TEST_F(EdgeCacheTest, replaces_the_older_of_two) {
  cache.remember(Address{10}, edge_to(10));
  cache.remember(Address{20}, edge_to(20));
  cache.remember(Address{30}, edge_to(30));
  EXPECT_EQ(cache.find(Address{10}), nullptr);
  EXPECT_EQ(cache.find(Address{20}), &edge_to(20));
  EXPECT_EQ(cache.find(Address{30}), &edge_to(30));
}

TEST_F(EdgeCacheTest, forgets_everything_when_cleared) {
  cache.remember(Address{10}, edge_to(10));
  cache.clear();
  EXPECT_EQ(cache.find(Address{10}), nullptr);
}

}  // namespace
}  // namespace sp::supervisor
