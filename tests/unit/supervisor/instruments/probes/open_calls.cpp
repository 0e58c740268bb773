#include "supervisor/instruments/probes/open_calls.h"

#include <gtest/gtest.h>

#include <chrono>

namespace sp::supervisor {
namespace {

using core::Address;
using core::Duration;

core::TimePoint at(int ns) { return core::TimePoint{Duration{ns}}; }

TEST(OpenCalls, a_return_ends_the_call_with_its_stack_pointer) {
  OpenCalls calls;
  calls.enter(1, Address{0x900}, at(10), 5);
  calls.enter(1, Address{0x800}, at(20), 6);  // recursion
  const auto inner = calls.leave(1, false, Address{0x800}, at(30));
  ASSERT_TRUE(inner);
  EXPECT_EQ(inner->number, 6U);
  EXPECT_EQ(inner->took, Duration{10});
  const auto outer = calls.leave(1, false, Address{0x900}, at(100));
  ASSERT_TRUE(outer);
  EXPECT_EQ(outer->number, 5U);
  EXPECT_EQ(outer->took, Duration{90});
  EXPECT_FALSE(calls.leave(1, false, Address{0x900}, at(110)));
}

TEST(OpenCalls, stolen_time_is_no_part_of_a_call) {
  OpenCalls calls;
  calls.add_stolen(Duration{1000});
  calls.enter(1, Address{0x900}, at(10), 0);
  calls.add_stolen(Duration{30});
  EXPECT_EQ(calls.leave(1, false, Address{0x900}, at(110))->took, Duration{70});
}

TEST(OpenCalls, a_part_returns_for_the_function_that_was_entered) {
  OpenCalls calls;
  calls.enter(1, Address{0x900}, at(10), 4);
  EXPECT_FALSE(calls.leave(2, false, Address{0x900}, at(20)));
  EXPECT_EQ(calls.leave(2, true, Address{0x900}, at(20))->number, 4U);
}

TEST(OpenCalls, what_was_skipped_gives_way_to_the_next_call_there) {
  OpenCalls calls;
  calls.enter(1, Address{0x900}, at(10), 4);
  calls.enter(2, Address{0x800}, at(20), 5);  // an exception unwinds it
  EXPECT_TRUE(calls.leave(1, false, Address{0x900}, at(30)));
  calls.enter(2, Address{0x800}, at(40), 6);
  EXPECT_EQ(calls.leave(2, false, Address{0x800}, at(50))->took, Duration{10});
}

TEST(OpenCalls, a_function_with_a_frame_is_inside) {
  OpenCalls calls;
  calls.enter(1, Address{0x900}, at(10), 4);
  EXPECT_TRUE(calls.is_inside(1, Address{0x8F0}));
  EXPECT_FALSE(calls.is_inside(1, Address{0x900}));
  EXPECT_FALSE(calls.is_inside(2, Address{0x8F0}));
}

TEST(OpenCalls, memory_is_bounded) {
  OpenCalls calls;
  const std::uint64_t top = 0x10000000;
  for (std::uint64_t i = 0; i <= OpenCalls::kMost; ++i) {
    calls.enter(1, Address{top - 8 * i}, at(0), static_cast<std::uint32_t>(i));
  }
  EXPECT_TRUE(calls.leave(1, false, Address{top}, at(1)));
  EXPECT_FALSE(calls.leave(1, false, Address{top - 8 * (OpenCalls::kMost - 1)}, at(1)));
}

}  // namespace
}  // namespace sp::supervisor
