#include "core/channel.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>

namespace {

using sp::core::Channel;
using sp::core::Clock;

TEST(Channel, gives_values_in_their_order) {
  Channel<int> channel(3);
  EXPECT_TRUE(channel.push(1));
  EXPECT_TRUE(channel.push(2));
  EXPECT_EQ(channel.pop(), 1);
  EXPECT_EQ(channel.try_pop(), 2);
  EXPECT_EQ(channel.try_pop(), std::nullopt);
}

TEST(Channel, refuses_a_value_when_full_and_leaves_it_alone) {
  Channel<std::unique_ptr<int>> channel(1);
  EXPECT_TRUE(channel.try_push(std::make_unique<int>(1)));
  auto second = std::make_unique<int>(2);
  EXPECT_FALSE(channel.try_push(std::move(second)));
  ASSERT_NE(second, nullptr);  // NOLINT(bugprone-use-after-move): that is the promise
  EXPECT_EQ(**channel.pop(), 1);
  EXPECT_TRUE(channel.try_push(std::move(second)));
}

TEST(Channel, hands_out_what_was_queued_before_it_closed) {
  Channel<int> channel(2);
  EXPECT_TRUE(channel.push(7));
  channel.close();
  EXPECT_FALSE(channel.push(8));
  EXPECT_FALSE(channel.try_push(9));
  EXPECT_FALSE(channel.finished());
  EXPECT_EQ(channel.pop(), 7);
  EXPECT_TRUE(channel.finished());
  EXPECT_EQ(channel.pop(), std::nullopt);
}

TEST(Channel, gives_up_waiting_at_the_deadline) {
  Channel<int> channel(1);
  EXPECT_EQ(channel.pop_until(Clock::now() + std::chrono::milliseconds(1)), std::nullopt);
  EXPECT_FALSE(channel.finished());
  EXPECT_TRUE(channel.push(3));
  EXPECT_EQ(channel.pop_until(Clock::now()), 3);
}

TEST(Channel, wakes_a_writer_that_waits_for_room) {
  Channel<int> channel(1);
  EXPECT_TRUE(channel.push(1));
  std::jthread writer([&channel] { EXPECT_TRUE(channel.push(2)); });
  EXPECT_EQ(channel.pop(), 1);
  EXPECT_EQ(channel.pop(), 2);
}

TEST(Channel, wakes_both_sides_when_it_closes) {
  Channel<int> full(1);
  EXPECT_TRUE(full.push(1));
  Channel<int> empty(1);
  std::jthread writer([&full] { EXPECT_FALSE(full.push(2)); });
  std::jthread reader([&empty] { EXPECT_EQ(empty.pop(), std::nullopt); });
  full.close();
  empty.close();
}

TEST(Channel, loses_nothing_between_two_threads) {
  constexpr int kCount = 20'000;
  Channel<int> channel(16);
  std::jthread writer([&channel] {
    for (int i = 0; i < kCount; ++i) {
      EXPECT_TRUE(channel.push(i));
    }
    channel.close();
  });
  int expected = 0;
  while (const auto value = channel.pop()) {
    ASSERT_EQ(*value, expected);
    ++expected;
  }
  EXPECT_EQ(expected, kCount);
}

}  // namespace
