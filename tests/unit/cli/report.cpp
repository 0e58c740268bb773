#include <gtest/gtest.h>

#include "parsing.h"

namespace sp::cli {
namespace {

ReportOptions reported(const std::vector<std::string>& words) {
  const Parsed outcome = parsed(words);
  const auto* options = std::get_if<ReportOptions>(&outcome);
  EXPECT_NE(options, nullptr) << words.back();
  return options == nullptr ? ReportOptions{} : *options;
}

TEST(Report, takes_the_newest_run_if_none_is_given) {
  const ReportOptions options = reported({"report"});
  EXPECT_EQ(options.run, "");
  EXPECT_FALSE(options.sort);
  EXPECT_EQ(options.percent_limit, 1);
  EXPECT_FALSE(options.json);
}

TEST(Report, takes_a_run_and_what_to_show) {
  const ReportOptions options =
      reported({"report", "output/a-7", "--sort", "calls", "--callers=f(int, int)",
                "--percent-limit", "0.5", "--json"});
  EXPECT_EQ(options.run, "output/a-7");
  EXPECT_EQ(options.sort, Sort::calls);
  EXPECT_EQ(options.callers, "f(int, int)");
  EXPECT_EQ(options.percent_limit, 0.5);
  EXPECT_TRUE(options.json);
  EXPECT_TRUE(reported({"report", "--by-module", "--", "-odd-"}).by_module);
  EXPECT_TRUE(reported({"report", "--by-thread"}).by_thread);
  EXPECT_EQ(reported({"report", "--callees", "g"}).callees, "g");
}

TEST(Report, of_calls_in_their_order_has_a_name_of_its_own) {
  const ReportOptions replayed = reported({"replay", "output/a", "--from", "1.5s", "--limit", "7"});
  EXPECT_TRUE(replayed.trace);
  EXPECT_TRUE(replayed.graph);
  EXPECT_EQ(replayed.run, "output/a");
  EXPECT_EQ(replayed.cuts,
            reported({"report", "--trace", "--graph", "--from", "1.5s", "--limit", "7"}).cuts);
  EXPECT_EQ(reported({"replay"}).cuts, reported({"report", "--trace", "--graph"}).cuts);
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"replay", "a", "b"},
                                             {"replay", "--json"},
                                             {"replay", "--debug-dir", "d"},
                                             {"replay", "--from", "2s", "--to", "1s"}}) {
    const Parsed outcome = parsed(words);
    const auto* const refused = std::get_if<PrintAndExit>(&outcome);
    ASSERT_NE(refused, nullptr) << words.back();
    EXPECT_EQ(refused->status, 2) << refused->text;
  }
}

TEST(Report, as_a_page_takes_a_file) {
  const ReportOptions options =
      reported({"report", "--html", "output/a-7", "-o", "-", "--debug-dir", "/d"});
  EXPECT_TRUE(options.html);
  EXPECT_EQ(options.run, "output/a-7");
  EXPECT_EQ(options.output, "-");
  EXPECT_EQ(options.debug_dirs, std::vector<std::string>{"/d"});
  EXPECT_EQ(reported({"report", "--html"}).output, "");
  EXPECT_FALSE(reported({"report"}).html);
}

TEST(Report, of_a_trace_takes_what_its_calls_have) {
  const ReportOptions table =
      reported({"report", "--trace", "--sort", "max", "--by-thread", "--raw-times"});
  EXPECT_TRUE(table.trace);
  EXPECT_EQ(table.sort, Sort::max);
  EXPECT_TRUE(table.cuts.raw_times);
  EXPECT_EQ(table.cuts.limit, 0U);
  EXPECT_EQ(reported({"report", "--trace", "--by-thread", "--sort", "calls"}).sort, Sort::calls);
  const ReportOptions graph =
      reported({"report", "output/a-7", "--trace", "--graph", "--from", "1.5", "--to", "2s"});
  EXPECT_TRUE(graph.graph);
  EXPECT_EQ(graph.cuts.from, std::chrono::milliseconds(1500));
  EXPECT_EQ(graph.cuts.to, std::chrono::seconds(2));
  EXPECT_EQ(graph.cuts.limit, 10'000U);
  EXPECT_EQ(reported({"report", "--trace", "--graph", "--limit", "0"}).cuts.limit, 0U);
}

TEST(Info, takes_a_run_or_the_newest_one) {
  const auto options = [](const std::vector<std::string>& words) {
    const Parsed outcome = parsed(words);
    return std::get<InfoOptions>(outcome);
  };
  EXPECT_EQ(options({"info"}).run, "");
  EXPECT_FALSE(options({"info"}).json);
  EXPECT_EQ(options({"info", "output/a-7", "--json"}).run, "output/a-7");
  EXPECT_TRUE(options({"info", "output/a-7", "--json"}).json);
}

TEST(Report, explains_itself) {
  const std::string help = printed({"report", "--help"});
  EXPECT_TRUE(help.starts_with("superprofiler report [RUN]"));
  EXPECT_NE(help.find("--callers F"), std::string::npos);
  EXPECT_EQ(help.find("report: "), std::string::npos);
}

}  // namespace
}  // namespace sp::cli
