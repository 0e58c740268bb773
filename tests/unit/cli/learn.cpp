#include <gtest/gtest.h>

#include <chrono>

#include "parsing.h"

namespace sp::cli {
namespace {

TEST(Learn, takes_a_time_and_a_share) {
  EXPECT_FALSE(record({"--trace", "--", "true"}).learn);
  const auto plain = record({"--trace", "--learn", "2s", "--", "true"}).learn;
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->time, std::chrono::seconds(2));
  EXPECT_EQ(plain->keep_overhead_percent, 5);
  EXPECT_EQ(record({"--trace", "--learn", "300ms", "--keep-overhead", "1.5", "--", "true"})
                .learn->keep_overhead_percent,
            1.5);
}

TEST(Learn, is_for_traces) {
  EXPECT_EQ(usage_error({"--learn", "2s", "--", "true"}),
            "--learn is for --trace; add --trace, or leave it out");
  EXPECT_EQ(usage_error({"--tree", "--learn", "2s", "--", "true"}),
            "--learn is for --trace; add --trace, or leave it out");
  EXPECT_EQ(usage_error({"--trace", "--keep-overhead", "2", "--", "true"}),
            "--keep-overhead is for --learn; add --learn 2s, or leave it out");
  EXPECT_EQ(usage_error({"--trace", "-a", "--learn", "2s", "--", "true"}),
            "-a and --learn exclude each other: -a keeps what --learn takes away");
  EXPECT_EQ(usage_error({"--trace", "--learn", "0", "--", "true"}),
            "--learn: the time must be above 0, such as 2s");
  EXPECT_NE(usage_error({"--trace", "--learn", "2s", "--keep-overhead", "101", "--", "true"}), "");
}

TEST(SpoorsFiles, may_be_several) {
  const Parsed outcome =
      parsed({"convert", "a.spoor_trace", "dir", "--symbols", "s", "-f", "chrome"});
  const auto* const options = std::get_if<ConvertOptions>(&outcome);
  ASSERT_NE(options, nullptr);
  EXPECT_EQ(options->run, "a.spoor_trace");
  EXPECT_EQ(options->more, (std::vector<std::string>{"dir"}));
  EXPECT_EQ(options->symbols, (std::vector<std::string>{"s"}));
  EXPECT_EQ(usage_error({"convert", "--symbols", "s", "-f", "chrome"}),
            "--symbols is for Spoor's files; name them: superprofiler convert DIR --symbols FILE "
            "-f perfetto");
}

TEST(CoverageCounts, are_of_one_run) {
  const Parsed outcome = parsed({"coverage", "--counts", "output/x", "-o", "dir"});
  const auto* const options = std::get_if<CoverageOptions>(&outcome);
  ASSERT_NE(options, nullptr);
  EXPECT_TRUE(options->counts);
  EXPECT_EQ(options->output, "dir");
  EXPECT_EQ(usage_error({"coverage", "merge", "a", "b", "--counts", "-o", "c"}),
            "coverage merge and --counts exclude each other: counts are of one run");
}

}  // namespace
}  // namespace sp::cli
