#include "core/stable_vector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

namespace sp::core {
namespace {

using Words = StableVector<std::string, 4>;

TEST(StableVector, never_moves_an_element) {
  Words words;
  const std::string* const first = &words.emplace_back("0");
  for (int i = 1; i < 100; ++i) {
    words.push_back(std::to_string(i));
  }
  EXPECT_EQ(first, &words[0]);
  ASSERT_EQ(words.size(), 100U);
  EXPECT_EQ(words[4], "4");
  EXPECT_EQ(words.back(), "99");
}

TEST(StableVector, is_walked_in_order) {
  Words words;
  EXPECT_TRUE(words.empty());
  EXPECT_EQ(words.begin(), words.end());
  for (const char* word : {"a", "b", "c", "d", "e"}) {
    words.emplace_back(word);
  }
  std::string all;
  for (const std::string& word : std::as_const(words)) {
    all += word;
  }
  EXPECT_EQ(all, "abcde");
  EXPECT_EQ(*std::find(words.begin(), words.end(), "d"), "d");
}

TEST(StableVector, is_copied) {
  Words words(9);
  words[8] = "last";
  Words copy = words;
  words[8] = "other";
  copy.emplace_back("more");
  EXPECT_EQ(copy[8], "last");
  EXPECT_EQ(copy.size(), 10U);
  EXPECT_EQ(words.size(), 9U);
}

}  // namespace
}  // namespace sp::core
