#include "commands/diff/rules.h"

#include <gtest/gtest.h>

#include <sstream>

#include "cli/read.h"
#include "commands/diff/diff_text.h"
#include "runs.h"

namespace sp::diff {
namespace {

using test::counted_run;
using test::sampled_run;

std::vector<cli::DiffRule> rules(const std::vector<std::string>& texts) {
  std::vector<cli::DiffRule> all;
  for (const std::string& text : texts) {
    all.push_back(cli::read_rule(text).value());
  }
  return all;
}

Judgement judged(const Comparison& comparison, const std::string& rule) {
  return judge(comparison, rules({rule}));
}

Comparison ten_percent_more() {
  return compare({counted_run({{"f", 10, 1000}, {"g", 1, 9000}})},
                 {counted_run({{"f", 11, 1100}, {"g", 1, 9000}})});
}

TEST(Rules, are_broken_by_what_is_beyond_them) {
  const Comparison comparison = ten_percent_more();
  EXPECT_EQ(judged(comparison, "f:calls>0").broken,
            std::vector<std::string>{"rule 'f:calls>0' is broken: calls of f 10 -> 11, +10.0 %"});
  EXPECT_EQ(judged(comparison, "f:calls>1").broken.size(), 0U);
  EXPECT_EQ(judged(comparison, "f:instructions>9.9%").broken.size(), 1U);
  EXPECT_EQ(judged(comparison, "f:instructions>10%").broken.size(), 0U);
  EXPECT_EQ(judged(comparison, "g:instructions>0").broken.size(), 0U);
  EXPECT_EQ(judged(comparison, "instructions>0.9%").broken.size(), 1U);
  EXPECT_EQ(judged(comparison, "instructions>1%").broken.size(), 0U);
  EXPECT_EQ(judged(comparison, "total>0.9%").broken.size(), 1U);  // counted only: instructions
  EXPECT_EQ(judged(comparison, "*:calls>0").broken.size(), 1U);
  EXPECT_EQ(judged(comparison, "f:calls<-1").broken.size(), 0U);
}

TEST(Rules, for_less_are_broken_by_less) {
  const Comparison comparison =
      compare({counted_run({{"f", 11, 1100}})}, {counted_run({{"f", 10, 1000}})});
  EXPECT_EQ(judged(comparison, "f:calls<0").broken.size(), 1U);
  EXPECT_EQ(judged(comparison, "f:calls<-1").broken.size(), 0U);
  EXPECT_EQ(judged(comparison, "f:calls>0").broken.size(), 0U);
}

TEST(Rules, are_broken_by_what_cannot_be_told) {
  const Comparison comparison = compare({counted_run({{"f", 5, 100, "exact-until:0.1"}})},
                                        {counted_run({{"f", 5, 100, "exact-until:0.2"}})});
  const auto broken = judged(comparison, "f:calls>0").broken;
  ASSERT_EQ(broken.size(), 1U);
  EXPECT_NE(broken[0].find("cannot be checked"), std::string::npos);
  EXPECT_EQ(judged(comparison, "f:self>5%").broken.size(), 1U);
  EXPECT_EQ(judged(comparison, "total>1ms").broken.size(), 1U);
}

TEST(Rules, are_not_broken_by_a_run_and_itself) {
  auto run = counted_run({{"f", 5, 100, "exact-until:0.1"}});
  run.run.started_ns = 7;
  const Comparison comparison = compare({run}, {run});
  for (const char* rule : {"f:calls>0", "f:calls<0", "f:self>5%", "total>-5%", "total>1ms",
                           "other:calls>0", "executions>-1"}) {
    EXPECT_TRUE(judged(comparison, rule).broken.empty()) << rule;
  }
}

TEST(Rules, for_unknown_functions_name_those_there_are) {
  const Judgement judgement = judged(ten_percent_more(), "fu:calls>0");
  EXPECT_TRUE(judgement.broken.empty());
  ASSERT_EQ(judgement.notes.size(), 1U);
  EXPECT_NE(judgement.notes[0].find("no function of the runs is called fu"), std::string::npos);
  EXPECT_FALSE(check_rules(rules({"/(/:calls>0"})));
  EXPECT_TRUE(check_rules(rules({"/(f|g)/:calls>0", "total>5%"})));
}

TEST(Rules, for_times_want_more_than_chance) {
  const auto of = [](std::uint64_t samples) {
    return compare({sampled_run({{"f", 1000}})}, {sampled_run({{"f", samples}})});
  };
  EXPECT_EQ(judged(of(1100), "f:self>5%").broken.size(), 0U);
  EXPECT_EQ(judged(of(1200), "f:self>5%").broken.size(), 1U);
  EXPECT_EQ(judged(of(1200), "f:self>100ms").broken.size(), 1U);
  EXPECT_EQ(judged(of(1200), "f:self>200ms").broken.size(), 0U);
  EXPECT_EQ(judged(of(1200), "total>5%").broken.size(), 1U);
}

TEST(DiffText, has_a_row_for_each_metric_that_differs) {
  const std::vector<RunNumbers> before{counted_run({{"f", 10, 1000}, {"g", 1, 9000}})};
  const std::vector<RunNumbers> after{counted_run({{"f", 11, 1100}, {"g", 1, 9000}})};
  const Comparison comparison = compare(before, after);
  std::ostringstream out;
  write_text(out, {before, after, comparison, 20});
  EXPECT_EQ(out.str(), R"(A output/counted: /bin/demo; not sampled; counted: exact
B output/counted: /bin/demo; not sampled; counted: exact
           before             after             delta         %  metric        kind                function                                                      module
               11                12                +1    +9.1 %  calls         exact               (the whole run)
               11                12                +1    +9.1 %  executions    exact               (the whole run)
           10,000            10,100              +100    +1.0 %  instructions  exact               (the whole run)
               10                11                +1   +10.0 %  calls         exact               f                                                             demo
               10                11                +1   +10.0 %  executions    exact               f                                                             demo
            1,000             1,100              +100   +10.0 %  instructions  exact               f                                                             demo
)");
}

TEST(DiffText, says_that_nothing_differs) {
  const std::vector<RunNumbers> runs{sampled_run({{"f\x1B[2J\n", 100}})};
  const Comparison comparison = compare(runs, runs);
  std::ostringstream out;
  write_text(out, {runs, runs, comparison, 20});
  EXPECT_NE(out.str().find("\nno function differs\n"), std::string::npos) << out.str();
}

TEST(DiffText, leaves_out_what_is_beyond_the_limit) {
  const std::vector<RunNumbers> before{counted_run({{"f", 1, 10}, {"g", 1, 10}})};
  const std::vector<RunNumbers> after{counted_run({{"f", 1, 19}, {"g", 1, 12}})};
  const Comparison comparison = compare(before, after);
  std::ostringstream text;
  write_text(text, {before, after, comparison, 1});
  EXPECT_NE(text.str().find("1 more functions differ: --limit 0"), std::string::npos);
  std::ostringstream json;
  write_json(json, {before, after, comparison, 1}, {"rule"});
  EXPECT_NE(json.str().find("\"left_out\": 1"), std::string::npos) << json.str();
  EXPECT_NE(json.str().find("\"function\": \"f\""), std::string::npos);
  EXPECT_EQ(json.str().find("\"function\": \"g\""), std::string::npos);
  EXPECT_NE(json.str().find("\"delta\": 9"), std::string::npos);
}

}  // namespace
}  // namespace sp::diff
