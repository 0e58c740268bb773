// --learn: what costs most for the time in it is left alone from then on, and in later runs.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

constexpr int kRounds = 30;
constexpr std::uint64_t kTinyCalls = kRounds * 2'000;

struct Symbol {
  std::string instrumented;
  std::string reason;
};

/// symbols.tsv, by linkage name.
std::map<std::string, Symbol> symbols_of(const std::string& directory) {
  std::map<std::string, Symbol> symbols;
  std::istringstream in(read_file(directory + "/symbols.tsv"));
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, '\t');) {
      cells.push_back(cell);
    }
    if (cells.size() > 12) {
      symbols[cells[5]] = {cells[11], cells[12]};
    }
  }
  return symbols;
}

std::uint64_t traced_calls(const std::string& directory, const std::string& function) {
  const Outcome shown =
      run({SP_PROGRAM, "report", "--trace", directory, "--json", "--percent-limit", "0"});
  EXPECT_EQ(shown.exit_status(), 0) << shown.text();
  const auto report = nlohmann::json::parse(shown.out, nullptr, false);
  for (const auto& row : report.value("rows", nlohmann::json::array())) {
    if (row["name"] == function) {
      return row["calls"];
    }
  }
  return 0;
}

Words program() { return {target("hot_and_cold"), std::to_string(kRounds)}; }

TEST(Learning, leaves_the_hot_function_alone_and_the_next_run_does_not_plant_it) {
  const TempDir directory;
  const auto first = profile(directory, {"--trace", "--learn", "300ms"}, program());
  ASSERT_EQ(first.outcome.exit_status(), 0) << first.outcome.text();
  EXPECT_EQ(first.outcome.out, "30 rounds\n");
  EXPECT_NE(first.outcome.err.find(" % of it by 1 of "), std::string::npos) << first.outcome.err;
  const std::string run_directory = directory / "run";
  const std::string rules = read_file(run_directory + "/learned.toml");
  const std::regex rule(R"(\[\[block\]\]
rule_name = "learned: [0-9,]+ calls/s, [0-9]+ % of cost"
function_linkage_name = "tiny"
module = ".*hot_and_cold"
)");
  EXPECT_TRUE(std::regex_search(rules, rule)) << rules;
  EXPECT_EQ(rules.find("\"big\""), std::string::npos) << rules;
  EXPECT_NE(rules.find("# command: "), std::string::npos) << rules;
  EXPECT_NE(rules.find("build-id "), std::string::npos) << rules;
  auto symbols = symbols_of(run_directory);
  EXPECT_TRUE(symbols["tiny"].reason.starts_with("learned: ")) << symbols["tiny"].reason;
  EXPECT_EQ(symbols["big"].reason, "default");
  EXPECT_EQ(traced_calls(run_directory, "big"), kRounds);
  const std::uint64_t while_learning = traced_calls(run_directory, "tiny");
  EXPECT_GT(while_learning, 0U);
  EXPECT_LT(while_learning, kTinyCalls);

  const TempDir other;
  const auto second =
      profile(other, {"--trace", "--filters", run_directory + "/learned.toml"}, program());
  ASSERT_EQ(second.outcome.exit_status(), 0) << second.outcome.text();
  symbols = symbols_of(other / "run");
  EXPECT_EQ(symbols["tiny"].instrumented, "no");
  EXPECT_TRUE(symbols["tiny"].reason.starts_with("learned: ")) << symbols["tiny"].reason;
  EXPECT_EQ(traced_calls(other / "run", "tiny"), 0U);
  EXPECT_EQ(traced_calls(other / "run", "big"), kRounds);
}

TEST(Learning, keeps_what_an_allow_rule_names_and_says_which_rules_are_of_no_use) {
  const TempDir directory;
  write_file(directory / "rules.toml",
             "[[allow]]\nfunction_linkage_name = \"tiny\"\n[[block]]\nrule_name = \"learned: 1 "
             "calls/s\"\nfunction_linkage_name = \"gone\"\nmodule = \".*/hot_and_cold\"\n");
  const auto run_of = profile(
      directory,
      {"--trace", "--learn", "20ms", "--overhead", "0", "--filters", directory / "rules.toml"},
      {target("hot_and_cold"), "2"});
  ASSERT_EQ(run_of.outcome.exit_status(), 0) << run_of.outcome.text();
  EXPECT_NE(run_of.outcome.err.find("1 of the rules of --learn is for functions that"),
            std::string::npos)
      << run_of.outcome.err;
  EXPECT_EQ(read_file(directory / "run/learned.toml").find("\"tiny\""), std::string::npos);
  EXPECT_EQ(traced_calls(directory / "run", "tiny"), 4'000U);
}

TEST(Learning, writes_what_it_has_seen_of_a_program_that_ends_before) {
  const TempDir directory;
  const auto run_of =
      profile(directory, {"--trace", "--learn", "1m"}, {target("hot_and_cold"), "2"});
  ASSERT_EQ(run_of.outcome.exit_status(), 0) << run_of.outcome.text();
  EXPECT_NE(read_file(directory / "run/learned.toml").find("function_linkage_name = \"tiny\""),
            std::string::npos);
  auto symbols = symbols_of(directory / "run");
  EXPECT_EQ(symbols["tiny"].reason, "default") << "nothing was left alone in this run";
  EXPECT_EQ(traced_calls(directory / "run", "tiny"), 4'000U);
}

}  // namespace
}  // namespace sp::end_to_end
