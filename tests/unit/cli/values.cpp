#include "cli/values.h"

#include <gtest/gtest.h>

namespace sp::cli {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

core::Duration interval(std::string_view text) {
  const auto time = parse_duration("-i", text, Unit::microseconds);
  EXPECT_TRUE(time.has_value()) << text;
  return time.value_or(core::Duration(-1));
}

TEST(Duration, is_a_number_with_a_unit) {
  EXPECT_EQ(interval("100us"), microseconds(100));
  EXPECT_EQ(interval("100\xC2\xB5s"), microseconds(100));
  EXPECT_EQ(interval("1ms"), milliseconds(1));
  EXPECT_EQ(interval("2s"), seconds(2));
  EXPECT_EQ(interval("1m"), minutes(1));
  EXPECT_EQ(interval("1min"), minutes(1));
  EXPECT_EQ(interval("3h"), hours(3));
  EXPECT_EQ(interval("10d"), hours(240));
  EXPECT_EQ(interval("1500ns"), nanoseconds(1500));
  EXPECT_EQ(interval("0.5ms"), microseconds(500));
  EXPECT_EQ(interval(".25s"), milliseconds(250));
}

TEST(Duration, without_a_unit_is_in_that_of_its_option) {
  EXPECT_EQ(interval("100"), microseconds(100));
  EXPECT_EQ(parse_duration("-d", "30", Unit::seconds).value(), seconds(30));
}

TEST(Duration, refuses_what_is_no_time) {
  for (const auto* text :
       {"", "s", "x", "-5", "+5", "1 s", "1sec", "1ss", "nan", "inf", "1e", "0x10s"}) {
    EXPECT_FALSE(parse_duration("-d", text, Unit::seconds).has_value()) << text;
  }
}

TEST(Duration, refuses_more_than_a_year) {
  EXPECT_TRUE(parse_duration("-d", "8760h", Unit::seconds).has_value());
  for (const auto* text : {"8761h", "1e30", "1e300h"}) {
    EXPECT_FALSE(parse_duration("-d", text, Unit::seconds).has_value()) << text;
  }
}

TEST(Number, lies_within_its_range) {
  EXPECT_EQ(parse_number("-t", "0", 0, 1).value(), 0);
  EXPECT_EQ(parse_number("-t", "0.25", 0, 1).value(), 0.25);
  EXPECT_EQ(parse_number("-t", "1", 0, 1).value(), 1);
  for (const auto* text : {"", "-0.1", "1.1", "nan", "inf", "a", "1x", "0,5"}) {
    EXPECT_FALSE(parse_number("-t", text, 0, 1).has_value()) << text;
  }
}

TEST(Pid, is_one_that_the_kernel_could_give_out) {
  EXPECT_EQ(parse_pid("1").value(), 1);
  EXPECT_EQ(parse_pid("4194304").value(), 4194304);
  for (const auto* text : {"", "abc", "-1", "0", "4194305", "99999999999", "12 34", "1.5", "0x10",
                           "99999999999999999999999"}) {
    EXPECT_FALSE(parse_pid(text).has_value()) << text;
  }
}

TEST(List, is_split_at_commas_outside_of_brackets) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(split_list("a,b"), (Names{"a", "b"}));
  EXPECT_EQ(split_list("f(int, int),std::map<int, int>::at"),
            (Names{"f(int, int)", "std::map<int, int>::at"}));
  EXPECT_EQ(split_list(",a,,b,"), (Names{"a", "b"}));
  EXPECT_EQ(split_list(""), Names{});
}

TEST(List, keeps_a_regex_in_one_piece) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(split_list("/a{1,2}/"), Names{"/a{1,2}/"});
  EXPECT_EQ(split_list("/a,b/,c"), (Names{"/a,b/", "c"}));
  EXPECT_EQ(split_list("/[(],b/,/d,e/"), (Names{"/[(],b/", "/d,e/"}));
}

TEST(List, with_brackets_that_do_not_match_is_one_name) {
  EXPECT_EQ(split_list("operator<,a"), (std::vector<std::string>{"operator<,a"}));
}

}  // namespace
}  // namespace sp::cli
