#include "supervisor/instruments/fork_origins.h"

#include <gtest/gtest.h>

namespace sp::supervisor {
namespace {

TEST(ForkOrigins, hands_out_what_was_announced_until_the_child_has_reported) {
  ForkOrigins origins;
  EXPECT_FALSE(origins.awaits_any());
  origins.announce(10, {nullptr, 7, true});
  EXPECT_TRUE(origins.awaits_any());
  ASSERT_NE(origins.announced(10), nullptr);
  EXPECT_EQ(origins.announced(10)->insertions, 7U);
  EXPECT_EQ(origins.find(10, nullptr).insertions, 7U);
  EXPECT_TRUE(origins.find(10, nullptr).blocks_trap);
  EXPECT_EQ(origins.announced(11), nullptr);
  origins.forget(10);
  EXPECT_EQ(origins.announced(10), nullptr);
  EXPECT_FALSE(origins.awaits_any());
}

TEST(ForkOrigins, of_an_unannounced_child_of_nobody_is_empty) {
  const TracedProcess parent;
  const ForkOrigins origins;
  EXPECT_EQ(origins.find(10, nullptr).code, nullptr);
  EXPECT_EQ(origins.find(10, &parent).code, nullptr);
}

}  // namespace
}  // namespace sp::supervisor
