#include "symbols/cold_part.h"

#include <gtest/gtest.h>

namespace sp::symbols {
namespace {

TEST(ColdPart, ends_in_cold_or_in_cold_and_a_number) {
  EXPECT_EQ(whole_of_cold_part("foo.cold"), "foo");
  EXPECT_EQ(whole_of_cold_part("foo.cold.1"), "foo");
  EXPECT_EQ(whole_of_cold_part("foo.cold.20"), "foo");
  EXPECT_EQ(whole_of_cold_part("_ZN2ns3fooEi.isra.0.cold"), "_ZN2ns3fooEi.isra.0");
  EXPECT_TRUE(is_cold_part("foo.cold"));
  EXPECT_TRUE(is_cold_part("foo.cold.1"));
}

TEST(ColdPart, is_none_if_a_name_only_contains_the_word) {
  for (const auto* const name :
       {"main.coldStart", "foo.cold.", "foo.cold.1a", "foo.cold.x", "foo.coldx.1", "foo.cold1",
        "foo.cold.func1", "foo", "foo.1", "cold", "1", ".1", ""}) {
    EXPECT_EQ(whole_of_cold_part(name), name);
    EXPECT_FALSE(is_cold_part(name)) << name;
  }
}

}  // namespace
}  // namespace sp::symbols
