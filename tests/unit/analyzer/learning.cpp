#include "analyzer/learning.h"

#include <gtest/gtest.h>

#include <chrono>

namespace sp::analyzer {
namespace {

using std::chrono::milliseconds;
using Dropped = std::vector<std::size_t>;

WatchedFunction watched(std::uint64_t entries, milliseconds cost, milliseconds inside,
                        bool is_kept = false) {
  return {{0, entries, cost, inside}, is_kept};
}

constexpr milliseconds kOwn{1000};

TEST(Learning, drops_the_worst_until_the_rest_is_under_the_share) {
  const std::vector<WatchedFunction> functions = {
      watched(10, milliseconds(20), milliseconds(900)),
      watched(90'000, milliseconds(400), milliseconds(1)),
      watched(9'000, milliseconds(40), milliseconds(20))};
  EXPECT_EQ(find_too_costly(functions, kOwn, 5), (Dropped{1, 2}));
  EXPECT_EQ(find_too_costly(functions, kOwn, 6), (Dropped{1}));
  EXPECT_EQ(find_too_costly(functions, kOwn, 50), Dropped{});
  EXPECT_EQ(find_too_costly(functions, kOwn, 0), (Dropped{0, 1, 2}));
}

TEST(Learning, keeps_what_an_allow_rule_names) {
  EXPECT_EQ(
      find_too_costly(
          std::vector<WatchedFunction>{watched(90'000, milliseconds(400), milliseconds(1), true),
                                       watched(9'000, milliseconds(40), milliseconds(20))},
          kOwn, 5),
      (Dropped{1}));
}

TEST(Learning, leaves_what_is_bad_but_rare) {
  // No time inside at all, and next to no cost.
  EXPECT_EQ(find_too_costly(
                std::vector<WatchedFunction>{watched(20, milliseconds(1), milliseconds(0)),
                                             watched(90'000, milliseconds(400), milliseconds(2))},
                kOwn, 5),
            (Dropped{1}));
  // A single call, however much it was.
  EXPECT_EQ(find_too_costly(
                std::vector<WatchedFunction>{watched(9, milliseconds(300), milliseconds(0)),
                                             watched(90'000, milliseconds(400), milliseconds(2))},
                kOwn, 5),
            (Dropped{1}));
}

TEST(Learning, has_nothing_to_drop_where_nothing_was_called) {
  EXPECT_EQ(find_too_costly({}, kOwn, 5), Dropped{});
  EXPECT_EQ(find_too_costly(std::vector<WatchedFunction>{watched(0, {}, {})}, {}, 5), Dropped{});
}

}  // namespace
}  // namespace sp::analyzer
