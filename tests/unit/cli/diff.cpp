#include <gtest/gtest.h>

#include "cli/read.h"
#include "core/edit_distance.h"
#include "parsing.h"

namespace sp::cli {
namespace {

using Metric = DiffRule::Metric;
using LimitUnit = DiffRule::Unit;

DiffOptions differing(const std::vector<std::string>& words) {
  const Parsed outcome = parsed(words);
  const auto* options = std::get_if<DiffOptions>(&outcome);
  EXPECT_NE(options, nullptr) << words.back();
  return options == nullptr ? DiffOptions{} : *options;
}

void expect_rule(const std::string& text, const std::string& function, Metric metric, bool more,
                 double limit, LimitUnit unit) {
  const auto rule = read_rule(text);
  ASSERT_TRUE(rule) << rule.error().message();
  EXPECT_EQ(rule->text, text);
  EXPECT_EQ(rule->function, function);
  EXPECT_EQ(rule->metric, metric) << text;
  EXPECT_EQ(rule->more, more) << text;
  EXPECT_EQ(rule->limit, limit) << text;
  EXPECT_EQ(rule->unit, unit) << text;
}

std::string refusal(const std::string& text) {
  const auto rule = read_rule(text);
  return rule ? "" : rule.error().message();
}

TEST(Diff, takes_two_runs_and_rules) {
  const DiffOptions options = differing({"diff", "a1,a2", "--fail-on", "total>5%", "b", "--fail-on",
                                         "f:calls>0", "--limit", "3", "--json"});
  EXPECT_EQ(options.before, "a1,a2");
  EXPECT_EQ(options.after, "b");
  ASSERT_EQ(options.rules.size(), 2U);
  EXPECT_EQ(options.rules[1].function, "f");
  EXPECT_EQ(options.limit, 3U);
  EXPECT_TRUE(options.json);
  EXPECT_FALSE(options.flame);
  EXPECT_EQ(differing({"diff", "a", "b", "--flame", "-o", "-"}).output, "-");
  EXPECT_EQ(differing({"diff", "a", "--", "-b"}).after, "-b");
}

TEST(DiffRule, is_a_metric_and_a_limit) {
  expect_rule("total>5%", "", Metric::total, true, 5, LimitUnit::percent);
  expect_rule("f:calls>0", "f", Metric::calls, true, 0, LimitUnit::one);
  expect_rule("f:self>10ms", "f", Metric::self, true, 1e7, LimitUnit::nanoseconds);
  expect_rule("instructions>1000", "", Metric::instructions, true, 1000, LimitUnit::one);
  expect_rule("f:executions<-2.5%", "f", Metric::executions, false, -2.5, LimitUnit::percent);
  expect_rule("total>0", "", Metric::total, true, 0, LimitUnit::one);
}

TEST(DiffRule, takes_names_with_colons_and_angle_brackets) {
  expect_rule("a::b<int>::operator>:total>5%", "a::b<int>::operator>", Metric::total, true, 5,
              LimitUnit::percent);
  expect_rule("/^ns::(f|g)$/:calls>1", "/^ns::(f|g)$/", Metric::calls, true, 1, LimitUnit::one);
}

TEST(DiffRule, says_what_is_wrong_with_it) {
  EXPECT_NE(refusal("f:cals>0").find("no metric 'cals', the nearest is calls"), std::string::npos);
  EXPECT_NE(refusal("total").find("neither > nor <"), std::string::npos);
  EXPECT_NE(refusal(">5").find("no metric"), std::string::npos);
  EXPECT_NE(refusal(":calls>5").find("name of the function is empty"), std::string::npos);
  EXPECT_NE(refusal("self>5%").find("self is of a function"), std::string::npos);
  EXPECT_NE(refusal("total>5").find("a time has a unit"), std::string::npos);
  EXPECT_NE(refusal("f:calls>5ms").find("the limit is not a number"), std::string::npos);
  for (const char* text : {"total>", "total>%", "total>5x%", "total>--5%", "total>nan",
                           "total>1e999", "total>=5%", "total>5%%"}) {
    EXPECT_NE(refusal(text).find("the limit is not a number"), std::string::npos) << text;
  }
}

TEST(Diff, explains_itself) {
  const std::string help = printed({"diff", "--help"});
  EXPECT_TRUE(help.starts_with("superprofiler diff A B"));
  EXPECT_NE(help.find("--fail-on RULE"), std::string::npos);
  EXPECT_EQ(help.find("diff: "), std::string::npos);
}

TEST(EditDistance, counts_changed_letters_and_swaps) {
  EXPECT_EQ(core::edit_distance("", "abc"), 3U);
  EXPECT_EQ(core::edit_distance("calls", "calls"), 0U);
  EXPECT_EQ(core::edit_distance("clals", "calls"), 1U);
  EXPECT_EQ(core::edit_distance("cals", "calls"), 1U);
}

}  // namespace
}  // namespace sp::cli
