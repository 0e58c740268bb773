#include "supervisor/instruments/probes/call_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace sp::supervisor {
namespace {

using core::Address;

constexpr Address kFunction{0x1000};

TEST(CallTable, calls_that_are_alike_are_one_group) {
  CallTable table({}, false);
  for (const char* value : {"\"a\"", "\"b\"", "\"a\""}) {
    table.count(table.begin({kFunction, {}, {}, {value}}), {});
  }
  auto taken = table.take();
  ASSERT_EQ(taken.groups.size(), 2U);
  EXPECT_EQ(taken.groups[0].values, (std::vector<std::string>{"\"a\""}));
  EXPECT_EQ(taken.groups[0].calls, 2U);
  EXPECT_EQ(taken.groups[1].calls, 1U);
  EXPECT_FALSE(table.has_news());
  EXPECT_TRUE(table.take().groups.empty());
}

TEST(CallTable, callers_and_threads_tell_groups_apart) {
  CallTable table({}, false);
  table.count(table.begin({kFunction, Address{1}, {7, 0}, {}}), {});
  table.count(table.begin({kFunction, Address{2}, {7, 0}, {}}), {});
  table.count(table.begin({kFunction, Address{2}, {8, 0}, {}}), {});
  table.count(table.begin({Address{0x2000}, Address{2}, {8, 0}, {}}), {});
  EXPECT_EQ(table.take().groups.size(), 4U);
}

TEST(CallTable, what_is_returned_fills_the_open_places) {
  CallTable table({1}, true);
  const std::uint32_t number = table.begin({kFunction, {}, {}, {"1", ""}});
  const std::vector<std::string> results = {"-1"};
  table.count(number, {results, std::uint64_t{5}, false});
  table.count(number, {results, {}, true});
  const auto taken = table.take();
  ASSERT_EQ(taken.groups.size(), 1U);
  EXPECT_EQ(taken.groups[0].values, (std::vector<std::string>{"1", "-1"}));
  EXPECT_EQ(taken.groups[0].calls, 2U);
  EXPECT_EQ(taken.groups[0].tail_calls, 1U);
  EXPECT_EQ(taken.groups[0].measured.count(), 1U);
  EXPECT_TRUE(taken.groups[0].measured.is_signed());
}

TEST(CallTable, calls_without_room_are_counted_together) {
  CallTable table({}, false);
  for (std::size_t i = 0; i < CallTable::kMost + 3; ++i) {
    table.count(table.begin({kFunction, {}, {}, {std::to_string(i)}}), {});
  }
  table.count(CallTable::kNone, {});
  const auto taken = table.take();
  EXPECT_EQ(taken.groups.size(), CallTable::kMost);
  EXPECT_EQ(taken.ungrouped, 3U);
}

}  // namespace
}  // namespace sp::supervisor
