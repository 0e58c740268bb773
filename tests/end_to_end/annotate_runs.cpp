// Exact counts of a program whose counts are known, from the files and from the listing.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "end_to_end/profiled.h"
#include "end_to_end/table_rows.h"

namespace sp::end_to_end {
namespace {

constexpr int kRounds = 12;
constexpr std::uint64_t kTriangle = kRounds * (kRounds - 1) / 2;

std::map<std::string, std::uint64_t> calls_of(const RunFiles& files) {
  std::map<std::string, std::uint64_t> calls;
  for (const TableRow& row : table_rows(read_file(files.directory() + "/functions.tsv"))) {
    if (row.at("module").ends_with("/known_counts") && row.at("calls_kind") == "exact") {
      calls[row.at("function")] = std::stoull(row.at("calls"));
    }
  }
  return calls;
}

/// offset -> hits of the program's own blocks.
std::map<std::string, std::string> own_blocks(const RunFiles& files) {
  std::map<std::string, std::string> blocks;
  for (const TableRow& row : table_rows(read_file(files.directory() + "/blocks.tsv"))) {
    if (row.at("module").ends_with("/known_counts")) {
      blocks[row.at("offset")] = row.at("hits") + " x " + row.at("instructions");
    }
  }
  return blocks;
}

Outcome annotate(const std::string& run_directory, const std::string& function) {
  return run({SP_PROGRAM, "annotate", run_directory, function});
}

class ExactRun : public testing::TestWithParam<const char*> {};

TEST_P(ExactRun, counts_what_is_known_beforehand) {
  const TempDir directory;
  const auto run =
      profile(directory, {GetParam()}, {target("known_counts"), std::to_string(kRounds)});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_TRUE(run.outcome.out.ends_with(" 55 2\n")) << run.outcome.out;
  const auto calls = calls_of(run.files);
  const auto of = [&](const std::string& function) {
    const auto found = calls.find(function);
    return found == calls.end() ? std::uint64_t{0} : found->second;
  };
  EXPECT_EQ(of("main"), 1U);
  EXPECT_EQ(of("each_round"), std::uint64_t{kRounds});
  EXPECT_EQ(of("tail"), std::uint64_t{kRounds}) << "a tail call is a jump";
  EXPECT_EQ(of("in_a_triangle"), kTriangle);
  EXPECT_EQ(of("fib"), 177U);
  EXPECT_EQ(of("handler"), 2U);
  const auto counts = run.files.run().at("counts");
  EXPECT_EQ(counts.at("kind"), "exact");
  EXPECT_EQ(counts.at("consistency").at("disagreeing"), 0) << counts;
  EXPECT_EQ(counts.at("lost_hits"), 0);

  const Outcome listing = annotate(run.files.directory(), "in_a_triangle");
  EXPECT_EQ(listing.exit_status(), 0) << listing.text();
  EXPECT_TRUE(std::regex_search(listing.out, std::regex("\n +66 +[0-9a-f]+:  "))) << listing.out;
  EXPECT_NE(listing.out.find("known_counts.c:"), std::string::npos) << listing.out;
  EXPECT_TRUE(std::regex_search(listing.out, std::regex(":  ret"))) << listing.out;
}

INSTANTIATE_TEST_SUITE_P(Ways, ExactRun, testing::Values("--single", "--single=step"));

TEST(ExactRuns, planting_counts_the_same_blocks_as_stepping) {
  const TempDir directory;
  const Words program = {target("known_counts"), std::to_string(kRounds)};
  const auto stepped = profile(directory, {"--single=step"}, program);
  ASSERT_EQ(stepped.outcome.exit_status(), 0) << stepped.outcome.text();
  const auto by_step = own_blocks(stepped.files);
  const auto planted = profile(directory, {"--single", "--overwrite"}, program);
  ASSERT_EQ(planted.outcome.exit_status(), 0) << planted.outcome.text();
  EXPECT_GT(by_step.size(), 15U);
  EXPECT_EQ(own_blocks(planted.files), by_step);
}

TEST(Annotate, says_in_one_line_what_it_cannot_show) {
  const TempDir directory;
  const auto counted = profile(directory, {"--single"}, {target("known_counts"), "3"});
  ASSERT_EQ(counted.outcome.exit_status(), 0) << counted.outcome.text();
  const auto line = [](const Outcome& outcome) {
    EXPECT_EQ(outcome.exit_status(), 1) << outcome.text();
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    return outcome.err;
  };
  EXPECT_NE(line(annotate(directory / "run", "triangle")).find("there is 'in_a_triangle'"),
            std::string::npos);
  EXPECT_NE(line(annotate(directory / "none", "main")).find("there is no run in"),
            std::string::npos);
  std::filesystem::remove(directory / "run/blocks.tsv");
  EXPECT_NE(line(annotate(directory / "run", "main")).find("superprofiler --single -- CMD"),
            std::string::npos);
}

TEST(Annotate, shows_samples_in_words_and_says_how_far_a_count_reaches) {
  const TempDir directory;
  const auto counted = profile(directory, {"--single"}, {target("known_counts"), "3"});
  ASSERT_EQ(counted.outcome.exit_status(), 0) << counted.outcome.text();
  // As written by the default mode if the probe of main's first block was removed.
  std::istringstream lines(read_file(directory / "run/blocks.tsv"));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t kind = line.find("\texact\t");
    if (line.find("/known_counts\t") == std::string::npos ||
        line.find("\tmain\t0x0\t") == std::string::npos || kind == std::string::npos) {
      text += line + "\n";
      continue;
    }
    text += line.substr(0, kind) + "\texact-until:1.250\t0\t0\t\n";
    text += line.substr(0, line.rfind('\t', kind - 1)) + "\t4711\tsampled\t\t\t\n";
  }
  write_file(directory / "run/blocks.tsv", text);
  const Outcome listing = annotate(directory / "run", "main");
  EXPECT_EQ(listing.exit_status(), 0) << listing.text();
  EXPECT_NE(listing.out.find("  exact, except for the blocks marked otherwise\n"),
            std::string::npos)
      << listing.out;
  EXPECT_TRUE(std::regex_search(
      listing.out,
      std::regex("\n +\\(exact-until:1.250; 4711 samples of the run fell into it\\)\n +1  ")))
      << listing.out;
}

TEST(Annotate, lists_the_functions_that_a_name_may_mean) {
  const TempDir directory;
  std::filesystem::create_directory(directory / "run");
  write_file(directory / "run/run.json", R"({"modules": []})");
  write_file(directory / "run/blocks.tsv",
             "module\toffset\tfunction\tfunction_offset\tsize\thits\tkind\n"
             "/bin/a\t0x10\tinit\t0x0\t4\t1\texact\n"
             "/bin/b\t0x20\tinit\t0x0\t4\t1\texact\n");
  const Outcome outcome = annotate(directory / "run", "init");
  EXPECT_EQ(outcome.exit_status(), 2);
  EXPECT_EQ(outcome.err,
            "superprofiler: 'init' is the name of 2 functions; choose one of them:\n"
            "superprofiler:   a:init\nsuperprofiler:   b:init\n");
}

TEST(Annotate, says_when_the_file_is_not_the_one_that_ran) {
  const TempDir directory;
  const std::string program = directory / "program";
  std::filesystem::copy_file(target("known_counts"), program);
  const auto counted = profile(directory, {"--single"}, {program, "1"});
  ASSERT_EQ(counted.outcome.exit_status(), 0) << counted.outcome.text();
  EXPECT_EQ(annotate(directory / "run", "main").err, "");
  std::filesystem::remove(program);
  std::filesystem::copy_file(target("recursion"), program);
  const Outcome outcome = annotate(directory / "run", "main");
  EXPECT_EQ(outcome.exit_status(), 0);
  EXPECT_NE(outcome.err.find("is not the file that was run (build-id "), std::string::npos)
      << outcome.err;
  std::filesystem::remove(program);
  EXPECT_EQ(annotate(directory / "run", "main").exit_status(), 1);
}

}  // namespace
}  // namespace sp::end_to_end
