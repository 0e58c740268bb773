#include <gtest/gtest.h>

#include <chrono>

#include "cli/call_query.h"
#include "cli/read.h"
#include "parsing.h"

namespace sp::cli {
namespace {

using core::ValueType;

CountOptions count(const std::vector<std::string>& words) {
  const Parsed outcome = parsed(words);
  const auto* options = std::get_if<CountOptions>(&outcome);
  EXPECT_NE(options, nullptr) << words.back();
  return options == nullptr ? CountOptions{} : *options;
}

std::string refusal(const std::vector<std::string>& words) {
  const Parsed outcome = parsed(words);
  const auto* print = std::get_if<PrintAndExit>(&outcome);
  EXPECT_TRUE(print != nullptr && print->status == 2) << words.back();
  return print != nullptr ? print->text : "";
}

TEST(Count, takes_functions_and_a_target) {
  const CountOptions options = count({"count", "c:str*", "main", "-p", "7", "-d", "10s"});
  ASSERT_EQ(options.patterns.size(), 2U);
  EXPECT_EQ(options.patterns[0].module, "c");
  EXPECT_EQ(options.patterns[0].function, "str*");
  EXPECT_EQ(options.patterns[1].module, "");
  EXPECT_EQ(options.run.pids, std::vector<pid_t>{7});
  EXPECT_EQ(options.run.duration, std::chrono::seconds(10));
  EXPECT_FALSE(options.interval);
  ASSERT_TRUE(options.run.calls);
  EXPECT_TRUE(options.run.calls->is_plain());
}

TEST(Count, colons_of_names_and_expressions_are_no_modules) {
  const auto is = [](std::string_view text, std::string_view module, std::string_view function) {
    const CountPattern pattern = split_pattern(text);
    EXPECT_EQ(pattern.module, module) << text;
    EXPECT_EQ(pattern.function, function) << text;
  };
  is("ns::f", "", "ns::f");
  is("app:ns::f", "app", "ns::f");
  is("*:f", "*", "f");
  is("/(?:a|b)/", "", "/(?:a|b)/");
  is("/a:b/", "", "/a:b/");
  is("/lib/libx.so:f", "/lib/libx.so", "f");
  is("/lib/libx.so:/^f/", "/lib/libx.so", "/^f/");
  is("c:/^str(len|cpy)$/", "c", "/^str(len|cpy)$/");
}

TEST(Count, values_tell_calls_apart) {
  const CountOptions options =
      count({"count", "f", "--args", "arg1:s,arg2", "--ret", "x", "--if", "arg2>4096 && ret:d<0",
             "--by", "thread,caller", "--", "true"});
  ASSERT_EQ(options.query.values.size(), 3U);
  EXPECT_EQ(options.query.values[0].type, ValueType::text);
  EXPECT_EQ(options.query.values[1].argument, 2U);
  EXPECT_EQ(options.query.values[1].type, ValueType::signed_number);
  EXPECT_TRUE(options.query.values[2].is_result());
  ASSERT_EQ(options.query.conditions.size(), 2U);
  EXPECT_EQ(options.query.conditions[0].is, core::CallCondition::Is::greater);
  EXPECT_EQ(options.query.conditions[0].number, 4096U);
  EXPECT_TRUE(options.query.by_caller);
  EXPECT_TRUE(options.query.by_thread);
  EXPECT_TRUE(options.query.needs_returns());
}

TEST(Count, a_histogram_is_of_the_value_or_of_durations) {
  EXPECT_TRUE(count({"count", "f", "--hist", "--", "true"}).query.has_durations);
  const auto by_value = count({"count", "f", "--hist", "--args", "arg1:u", "--", "true"}).query;
  ASSERT_TRUE(by_value.measured);
  EXPECT_EQ(by_value.measured->argument, 1U);
  EXPECT_TRUE(by_value.values.empty());
  EXPECT_FALSE(by_value.needs_returns());
  const auto by_args =
      count({"count", "f", "--hist", "--args", "arg1:s", "--by", "args", "--", "true"}).query;
  EXPECT_TRUE(by_args.has_durations);
  EXPECT_EQ(by_args.values.size(), 1U);
  const auto of_result =
      count({"count", "f", "--hist", "--args", "arg1:s", "--ret", "d", "--", "true"}).query;
  EXPECT_TRUE(of_result.measured && of_result.measured->is_result());
  EXPECT_EQ(of_result.values.size(), 1U);
}

TEST(Count, values_may_be_names_of_parameters) {
  const CountOptions options =
      count({"count", "f", "--args", "path,size:x", "--if", "n_2>1", "--", "true"});
  ASSERT_EQ(options.query.values.size(), 2U);
  EXPECT_TRUE(options.query.values[0].is_by_name());
  EXPECT_EQ(options.query.values[0].name, "path");
  EXPECT_FALSE(options.query.values[0].has_type);
  EXPECT_TRUE(options.query.values[1].has_type);
  EXPECT_EQ(options.query.conditions.front().value.name, "n_2");
  EXPECT_FALSE(options.query.needs_returns());
  const CountOptions all = count({"count", "f", "--args", "all", "--by", "args", "--", "true"});
  EXPECT_TRUE(all.all_parameters);
  EXPECT_TRUE(all.query.values.empty());
}

TEST(Count, conditions_have_numbers_of_both_kinds) {
  const auto one = read_call_conditions("arg3:x&0x40");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->front().is, core::CallCondition::Is::has_bits);
  EXPECT_EQ(one->front().number, 0x40U);
  const auto negative = read_call_conditions("ret == -2");
  ASSERT_TRUE(negative);
  EXPECT_EQ(negative->front().number, ~std::uint64_t{0} - 1);
}

TEST(Count, refusals_say_the_fix) {
  EXPECT_NE(refusal({"count", "-p", "7"}).find("count 'c:malloc'"), std::string::npos);
  EXPECT_NE(refusal({"count", "f"}).find("nothing to profile"), std::string::npos);
  EXPECT_NE(refusal({"count", "f", "--args", "1x:d", "-p", "7"}).find("write arg1"),
            std::string::npos);
  EXPECT_NE(refusal({"count", "f", "--args", "arg1:q", "-p", "7"}).find("s (string)"),
            std::string::npos);
  EXPECT_NE(refusal({"count", "f", "--args", "arg9:f", "-p", "7"}).find("first 8"),
            std::string::npos);
  EXPECT_NE(refusal({"count", "f", "--if", "arg1", "-p", "7"}).find("arg1>4096"),
            std::string::npos);
  EXPECT_NE(refusal({"count", "f", "--if", "arg1:s==1", "-p", "7"}).find("only numbers"),
            std::string::npos);
  EXPECT_NE(refusal({"count", "f", "--by", "args", "-p", "7"}).find("--args arg1:s"),
            std::string::npos);
  EXPECT_NE(refusal({"count", "f", "--hist", "--args", "arg1,arg2", "-p", "7"}).find("--by args"),
            std::string::npos);
  EXPECT_NE(refusal({"count", "f", "--hist", "--ret", "s", "-p", "7"}).find("only of numbers"),
            std::string::npos);
  EXPECT_NE(refusal({"count", "c:", "-p", "7"}).find("c:'*'"), std::string::npos);
}

}  // namespace
}  // namespace sp::cli
