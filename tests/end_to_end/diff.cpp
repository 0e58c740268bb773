// Two runs of a program that does more work in one function: diff names that function.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

/// Records DIR/NAME: more_work, with `percent` of the work in grows().
void record(const TempDir& directory, const std::string& name, const Words& options,
            const std::string& percent, const std::string& rounds) {
  Words words{SP_PROGRAM, "-o", directory.path(), "--name", name};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", target("more_work"), percent, rounds});
  const Outcome outcome = run(words);
  ASSERT_EQ(outcome.exit_status(), 0) << outcome.text();
}

Outcome diff(const Words& options) {
  Words words{SP_PROGRAM, "diff"};
  words.insert(words.end(), options.begin(), options.end());
  return run(words);
}

nlohmann::json rows(const Outcome& outcome) {
  const auto json = nlohmann::json::parse(outcome.out, nullptr, false);
  EXPECT_TRUE(json.is_object()) << outcome.text();
  return json.is_object() ? json.at("rows") : nlohmann::json::array();
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Diff, of_exact_counts_names_what_does_more_work) {
  const TempDir directory;
  record(directory, "a", {"--single"}, "100", "1");
  record(directory, "b", {"--single"}, "110", "1");
  const Outcome json = diff({directory / "a", directory / "b", "--json"});
  EXPECT_EQ(json.exit_status(), 0) << json.text();
  const auto differences = rows(json);
  ASSERT_FALSE(differences.empty());
  EXPECT_EQ(differences[0].at("function"), "grows");
  for (const auto& row : differences) {
    EXPECT_NE(row.at("function"), "stays");
    EXPECT_EQ(row.at("kind"), "exact");
    if (row.at("function") == "grows" && row.at("metric") == "calls") {
      EXPECT_EQ(row.at("before"), 10);
      EXPECT_EQ(row.at("after"), 11);
      EXPECT_EQ(row.at("delta"), 1);
    }
  }
  const Outcome broken = diff({directory / "a", directory / "b", "--fail-on", "grows:calls>0",
                               "--fail-on", "stays:instructions>0", "--fail-on", "total>50%"});
  EXPECT_EQ(broken.exit_status(), 1) << broken.text();
  EXPECT_TRUE(has(broken.err, "rule 'grows:calls>0' is broken: calls of grows 10 -> 11, +10.0 %"))
      << broken.err;
  EXPECT_FALSE(has(broken.err, "stays:")) << broken.err;
  EXPECT_FALSE(has(broken.err, "total>50%")) << broken.err;
  EXPECT_TRUE(has(broken.out, " grows ")) << broken.out;
}

TEST(Diff, of_a_run_with_itself_has_no_row_and_breaks_no_rule) {
  const TempDir directory;
  record(directory, "default", {}, "100", "20000");
  record(directory, "single", {"--single"}, "100", "10");
  for (const char* name : {"default", "single"}) {
    const Outcome same =
        diff({directory / name, directory / name, "--fail-on", "total>0", "--fail-on", "total<0",
              "--fail-on", "grows:calls>0", "--fail-on", "grows:self>-5%", "--fail-on",
              "nothing:instructions>0", "--fail-on", "*:executions<0"});
    EXPECT_EQ(same.exit_status(), 0) << same.text();
    EXPECT_TRUE(has(same.out, "no function differs")) << same.out;
    EXPECT_FALSE(has(same.err, "is broken")) << same.err;
    EXPECT_TRUE(rows(diff({directory / name, directory / name, "--json"})).empty());
  }
}

/// Records a1 to a3 and b1 to b3 in turn, so that a machine that gets slower meanwhile is slower
/// for both sides, and compares them.
Outcome compare_three(const TempDir& directory) {
  std::string before;
  std::string after;
  for (const std::string number : {"1", "2", "3"}) {
    const Words options{"-n", "-i", "200us", "--overhead", "0"};
    record(directory, "a" + number, options, "100", "4000000");
    record(directory, "b" + number, options, "150", "4000000");
    before += (before.empty() ? "" : ",") + directory / ("a" + number);
    after += (after.empty() ? "" : ",") + directory / ("b" + number);
  }
  return diff({before, after, "--fail-on", "grows:self>2%", "--flame", "--json"});
}

/// By how much the CPU time of the runs of a side varies, in percent; of the side that varies more.
double noise_percent(const TempDir& directory) {
  double most = 0;
  for (const std::string side : {"a", "b"}) {
    std::vector<double> times;
    for (const std::string number : {"1", "2", "3"}) {
      const auto run = RunFiles(directory / (side + number)).run();
      times.push_back(run.at("cost").at("target_cpu_us").get<double>());
    }
    const auto [least, largest] = std::minmax_element(times.begin(), times.end());
    most = std::max(most, 100 * (*largest / *least - 1));
  }
  return most;
}

TEST(Diff, of_three_sampled_runs_a_side_names_what_takes_longer) {
  SP_SKIP_WHERE_SAMPLES_ARE_FEW();
  // With three runs a side, what is ten times the noise between them is always told.
  constexpr double kNoisy = 5;
  constexpr int kAttempts = 3;
  for (int attempt = 1;; ++attempt) {
    const TempDir directory;
    const Outcome outcome = compare_three(directory);
    const auto differences = rows(outcome);
    if (differences.empty() && attempt < kAttempts) {
      continue;
    }
    if (const double noise = noise_percent(directory); differences.empty() && noise > kNoisy) {
      GTEST_SKIP() << "the machine is busy: runs of the same program differ by " << noise << " %";
    }
    EXPECT_EQ(outcome.exit_status(), 1) << outcome.text();
    EXPECT_TRUE(has(outcome.err, "rule 'grows:self>2%' is broken")) << outcome.err;
    ASSERT_FALSE(differences.empty()) << outcome.out;
    EXPECT_EQ(differences[0].at("function"), "grows") << outcome.out;
    EXPECT_EQ(differences[0].at("kind"), "sampled");
    EXPECT_TRUE(has(read_file(directory / "b1/diff.svg"), "<title>grows ("));
    return;
  }
}

TEST(Diff, says_what_it_does_not_compare) {
  const TempDir directory;
  record(directory, "sampled", {"-n"}, "100", "20000");
  record(directory, "counted", {"--single"}, "100", "10");
  const Outcome outcome = diff({directory / "sampled", directory / "counted"});
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_TRUE(has(outcome.err, "samples are not compared")) << outcome.err;
  EXPECT_TRUE(has(outcome.err, "counts are not compared")) << outcome.err;
  EXPECT_EQ(
      diff({directory / "sampled", directory / "counted", "--fail-on", "total>5%"}).exit_status(),
      1);

  const Outcome other =
      run({SP_PROGRAM, "-o", directory.path(), "--name", "other", "--single", "--", "true"});
  ASSERT_EQ(other.exit_status(), 0) << other.text();
  const Outcome programs = diff({directory / "counted", directory / "other"});
  EXPECT_EQ(programs.exit_status(), 0) << programs.text();
  EXPECT_TRUE(has(programs.err, "different programs, more_work and true")) << programs.err;
  EXPECT_TRUE(has(programs.out, " gone ")) << programs.out;
}

TEST(Diff, refuses_what_it_cannot_use) {
  const TempDir directory;
  const Outcome none = diff({directory / "a", directory / "b"});
  EXPECT_EQ(none.exit_status(), 125);
  EXPECT_TRUE(has(none.err, "there is no run in")) << none.err;
  EXPECT_EQ(diff({"a"}).exit_status(), 2);
  const Outcome rule = diff({"a", "b", "--fail-on", "f:cals>0"});
  EXPECT_EQ(rule.exit_status(), 2);
  EXPECT_TRUE(has(rule.err, "nearest is calls")) << rule.err;
  record(directory, "s", {"--single"}, "100", "10");
  const Outcome flame = diff({directory / "s", directory / "s", "--flame"});
  EXPECT_EQ(flame.exit_status(), 125);
  EXPECT_TRUE(has(flame.err, "--flame needs stacks")) << flame.err;
}

}  // namespace
}  // namespace sp::end_to_end
