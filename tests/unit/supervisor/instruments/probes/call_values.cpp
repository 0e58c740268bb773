#include "supervisor/instruments/probes/call_values.h"

#include <gtest/gtest.h>

#include <string_view>

namespace sp::supervisor {
namespace {

using core::CallCondition;
using core::ValueType;
using Is = core::CallCondition::Is;

TEST(CallValues, an_int_has_a_sign) {
  EXPECT_EQ(word_text(ValueType::signed_number, 0xFFFFFFFFU), "-1");
  EXPECT_EQ(word_text(ValueType::signed_number, ~std::uint64_t{0}), "-1");
  EXPECT_EQ(word_text(ValueType::signed_number, 0x7FFFFFFFU), "2147483647");
  EXPECT_EQ(word_text(ValueType::signed_number, std::uint64_t{1} << 32U), "4294967296");
  EXPECT_EQ(word_text(ValueType::unsigned_number, 0xFFFFFFFFU), "4294967295");
}

TEST(CallValues, types_have_their_texts) {
  EXPECT_EQ(word_text(ValueType::hexadecimal, 255), "0xff");
  EXPECT_EQ(word_text(ValueType::pointer, 0), "0x0");
  EXPECT_EQ(word_text(ValueType::character, 'a'), "'a'");
  EXPECT_EQ(word_text(ValueType::character, '\n'), "'\\n'");
}

TEST(CallValues, strings_are_escaped) {
  EXPECT_EQ(quoted("a \"b\"\\\t\n"), "\"a \\\"b\\\"\\\\\\t\\n\"");
  EXPECT_EQ(quoted(std::string_view("\x01\xff", 2)), "\"\\x01\\xff\"");
}

TEST(CallValues, conditions_compare_as_the_type_says) {
  const auto holds = [](ValueType type, Is is, std::uint64_t number, std::uint64_t word) {
    return holds_for({{1, type}, is, number}, word);
  };
  const auto minus_one = ~std::uint64_t{0};
  EXPECT_TRUE(holds(ValueType::signed_number, Is::less, 0, minus_one));
  EXPECT_FALSE(holds(ValueType::unsigned_number, Is::less, 0, minus_one));
  EXPECT_TRUE(holds(ValueType::unsigned_number, Is::greater, 4096, 4097));
  EXPECT_FALSE(holds(ValueType::unsigned_number, Is::greater, 4096, 4096));
  EXPECT_TRUE(holds(ValueType::unsigned_number, Is::at_least, 4096, 4096));
  EXPECT_TRUE(holds(ValueType::signed_number, Is::at_most, minus_one, minus_one));
  EXPECT_TRUE(holds(ValueType::signed_number, Is::equal, minus_one, minus_one));
  EXPECT_TRUE(holds(ValueType::signed_number, Is::unequal, 1, 2));
  EXPECT_TRUE(holds(ValueType::hexadecimal, Is::has_bits, 0x40, 0x241));
  EXPECT_FALSE(holds(ValueType::hexadecimal, Is::has_bits, 0x40, 0x201));
}

}  // namespace
}  // namespace sp::supervisor
