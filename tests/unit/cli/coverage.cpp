#include <gtest/gtest.h>

#include <chrono>

#include "parsing.h"

namespace sp::cli {
namespace {

TEST(Coverage, is_of_blocks_or_of_functions) {
  EXPECT_EQ(record({"--", "true"}).coverage, core::Coverage::off);
  EXPECT_EQ(record({"--coverage", "--", "true"}).coverage, core::Coverage::block);
  EXPECT_EQ(record({"--coverage=block", "--", "true"}).coverage, core::Coverage::block);
  EXPECT_EQ(record({"--coverage=function", "--", "true"}).coverage, core::Coverage::function);
  EXPECT_EQ(usage_error({"--coverage=line", "--", "true"}),
            "--coverage: 'line' is not known; write block or function");
}

TEST(Coverage, samples_less) {
  EXPECT_EQ(record({"--coverage", "--", "true"}).interval, std::chrono::milliseconds(10));
  EXPECT_EQ(record({"--coverage", "--", "true"}).overhead_percent, 0);
  EXPECT_EQ(record({"--coverage", "-i", "1ms", "--", "true"}).overhead_percent, 25);
  EXPECT_EQ(record({"--coverage", "--overhead", "5", "--", "true"}).overhead_percent, 5);
  EXPECT_EQ(record({"--coverage", "-i", "1ms", "--", "true"}).interval,
            std::chrono::milliseconds(1));
}

TEST(Coverage, excludes_other_ways_of_counting) {
  EXPECT_EQ(usage_error({"--coverage", "-n", "--", "true"}),
            "--coverage and -n exclude each other; keep one of them");
  EXPECT_EQ(usage_error({"--coverage", "-s", "--", "true"}),
            "--coverage and -s exclude each other; keep one of them");
  EXPECT_EQ(record({"--coverage", "-a", "--derive", "--", "true"}).notes.size(), 2U);
  const RecordOptions all = record({"--coverage", "--threads", "main", "--", "true"});
  EXPECT_TRUE(all.all_threads);
  EXPECT_EQ(all.notes.size(), 1U);
}

TEST(Coverage, has_options_of_its_own) {
  const RecordOptions options =
      record({"--coverage", "--coverage-known", "output/a", "--coverage-known=b.tsv",
              "--source-map=/a=/b", "--", "true"});
  EXPECT_EQ(options.coverage_known, (std::vector<std::string>{"output/a", "b.tsv"}));
  EXPECT_EQ(options.source_maps, std::vector<std::string>{"/a=/b"});
  EXPECT_EQ(usage_error({"--coverage-known", "a", "--", "true"}),
            "--coverage-known is for --coverage; add --coverage, or leave it out");
  EXPECT_EQ(usage_error({"--coverage", "--source-map", "/a", "--", "true"}),
            "--source-map: '/a' is not FROM=TO, such as /build/pkg-1.2=/home/me/pkg");
}

CoverageOptions shown(const std::vector<std::string>& words) {
  const Parsed outcome = parsed(words);
  const auto* options = std::get_if<CoverageOptions>(&outcome);
  EXPECT_NE(options, nullptr) << words.back();
  return options == nullptr ? CoverageOptions{} : *options;
}

TEST(Coverage, is_shown_and_merged) {
  EXPECT_TRUE(shown({"coverage"}).runs.empty());
  EXPECT_EQ(shown({"coverage", "output/a"}).runs, std::vector<std::string>{"output/a"});
  const CoverageOptions merged = shown({"coverage", "merge", "a", "b", "c", "-o", "all"});
  EXPECT_TRUE(merged.merges);
  EXPECT_EQ(merged.runs, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(merged.output, "all");
  EXPECT_NE(usage_error({"coverage", "a", "b"}).find("coverage shows one run, 2 are given"),
            std::string::npos);
  EXPECT_NE(usage_error({"coverage", "merge", "a"}).find("needs runs and a directory"),
            std::string::npos);
  EXPECT_NE(usage_error({"coverage", "a", "-o", "b"}).find("-o is for coverage merge"),
            std::string::npos);
}

TEST(Coverage, explains_itself) {
  const std::string help = printed({"coverage", "--help"});
  EXPECT_TRUE(help.starts_with("superprofiler coverage [RUN]"));
  EXPECT_NE(help.find("coverage merge RUN"), std::string::npos);
}

}  // namespace
}  // namespace sp::cli
