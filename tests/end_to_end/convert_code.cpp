// A run with exact counts, as profiles for tools that lay out and compile programs.
#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string converted(const TempDir& directory, const Words& options, const std::string& file) {
  Words words{SP_PROGRAM, "convert", directory / "run", "-f"};
  words.insert(words.end(), options.begin(), options.end());
  const Outcome outcome = run(words);
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  return read_file(directory / ("run/" + file));
}

/// The sum of the hits of the lines that match.
std::uint64_t hits(const std::string& fdata, const std::string& pattern) {
  const std::regex line("(^|\n)" + pattern + " 0 ([0-9]+)(?=\n)");
  std::uint64_t sum = 0;
  for (std::sregex_iterator match(fdata.begin(), fdata.end(), line), end; match != end; ++match) {
    sum += std::stoull((*match)[2]);
  }
  return sum;
}

TEST(ConvertToBolt, has_calls_and_branches_that_llvm_bolt_takes) {
  const TempDir directory;
  const auto profiled = profile(directory, {"--single"}, {target("more_work"), "110", "10"});
  ASSERT_EQ(profiled.outcome.exit_status(), 0) << profiled.outcome.text();
  const std::string fdata = converted(directory, {"bolt"}, "run.fdata");
  EXPECT_EQ(hits(fdata, "1 main [0-9a-f]+ 1 grows 0"), 110U) << fdata;
  EXPECT_EQ(hits(fdata, "1 main [0-9a-f]+ 1 stays 0"), 10U) << fdata;
  // 1100 turns, of which each call leaves the loop once.
  EXPECT_TRUE(
      std::regex_search(fdata, std::regex("(^|\n)1 grows [0-9a-f]+ 1 grows [0-9a-f]+ 0 990\n")))
      << fdata;
  const std::string bolt = has_program("llvm-bolt-19")   ? "llvm-bolt-19"
                           : has_program("llvm-bolt-16") ? "llvm-bolt-16"
                                                         : "llvm-bolt";
  if (!has_program(bolt)) {
    GTEST_SKIP() << "llvm-bolt is not installed: only the counts were checked";
  }
  const std::string better = directory / "better";
  const Outcome laid_out = run({bolt, target("more_work"), "-o", better, "-data",
                                directory / "run/run.fdata", "-reorder-blocks=ext-tsp"});
  EXPECT_EQ(laid_out.exit_status(), 0) << laid_out.text();
  const std::string said = laid_out.out + laid_out.err;
  EXPECT_TRUE(has(said, "have non-empty execution profile")) << said;
  EXPECT_FALSE(has(said, "have invalid (possibly stale) profile")) << said;
  EXPECT_FALSE(has(said, "profile objects")) << said;  // "1 out of 9 profile objects unused"
  EXPECT_EQ(run({better, "110", "10"}).out, "done\n");
}

TEST(ConvertToBolt, says_what_it_lacks) {
  const TempDir directory;
  const auto profiled = profile(directory, {"-n"}, {target("more_work"), "100", "1000"});
  ASSERT_EQ(profiled.outcome.exit_status(), 0) << profiled.outcome.text();
  const Outcome uncounted = run({SP_PROGRAM, "convert", directory / "run", "-f", "bolt"});
  EXPECT_EQ(uncounted.exit_status(), 125);
  EXPECT_TRUE(has(uncounted.err, "record it with --single")) << uncounted.err;
  const TempDir other;
  const auto counted = profile(other, {"--single"}, {target("more_work"), "100", "10"});
  ASSERT_EQ(counted.outcome.exit_status(), 0) << counted.outcome.text();
  const Outcome unknown =
      run({SP_PROGRAM, "convert", other / "run", "-f", "bolt", "--module", "libother.so"});
  EXPECT_EQ(unknown.exit_status(), 125);
  EXPECT_TRUE(has(unknown.err, "more_work")) << unknown.err;
}

}  // namespace
}  // namespace sp::end_to_end
