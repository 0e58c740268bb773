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

/// Compiles a program of which one branch is taken once in 64 times, and runs it.
void profile_compiled(const TempDir& directory) {
  write_file(directory / "prog.c", R"c(#include <stdio.h>
#include <stdlib.h>
static volatile unsigned long sink;
static unsigned long rare(unsigned long x) {
  sink = x;
  return x * 7 + 1;
}
__attribute__((noinline)) unsigned long step(unsigned long i, unsigned long x) {
  if (i % 64 == 63)
    x = rare(x);
  else
    x += i;
  return x;
}
int main(int argc, char** argv) {
  unsigned long x = argc;
  for (unsigned long i = 0; i < 640; ++i)
    x = step(i, x);
  printf("%lu\n", x);
  return argv == NULL;
}
)c");
  const Outcome compiled = run({"clang", "-O2", "-gline-tables-only", "-fdebug-info-for-profiling",
                                "-o", directory / "prog", directory / "prog.c"});
  ASSERT_EQ(compiled.exit_status(), 0) << compiled.text();
  const auto profiled = profile(directory, {"--single"}, {directory / "prog"});
  ASSERT_EQ(profiled.outcome.exit_status(), 0) << profiled.outcome.text();
}

TEST(ConvertToAutofdo, has_counts_of_lines_that_clang_takes) {
  if (!has_program("clang") || !has_program("llvm-profdata")) {
    GTEST_SKIP() << "clang or llvm-profdata is not installed";
  }
  const TempDir directory;
  profile_compiled(directory);
  const std::string afdo = converted(directory, {"autofdo"}, "run.afdo");
  EXPECT_TRUE(has(afdo, "\nstep:") || afdo.starts_with("step:")) << afdo;
  EXPECT_TRUE(std::regex_search(afdo, std::regex("(^|\n)step:[0-9]+:640\n"))) << afdo;
  EXPECT_TRUE(std::regex_search(afdo, std::regex("\n [0-9.]+: 640 step:640\n"))) << afdo;
  EXPECT_TRUE(std::regex_search(afdo, std::regex("\n 2[0-9.]*: rare:[0-9]+\n  1: 10\n"))) << afdo;
  const Outcome merged = run({"llvm-profdata", "merge", "--sample", "--text",
                              directory / "run/run.afdo", "-o", directory / "merged"});
  EXPECT_EQ(merged.exit_status(), 0) << merged.text();
  EXPECT_TRUE(has(read_file(directory / "merged"), "step:")) << merged.text();
  const Outcome compiled =
      run({"clang", "-O2", "-g", "-fprofile-sample-use=" + directory / "run/run.afdo", "-o",
           directory / "better", directory / "prog.c"});
  EXPECT_EQ(compiled.exit_status(), 0) << compiled.text();
  EXPECT_EQ(compiled.err, "");
  EXPECT_EQ(run({directory / "better"}).out, run({directory / "prog"}).out);
}

TEST(ConvertToAutofdo, says_that_there_is_no_debug_information) {
  const TempDir directory;
  const auto profiled = profile(directory, {"--single"}, {"true"});
  ASSERT_EQ(profiled.outcome.exit_status(), 0) << profiled.outcome.text();
  const Outcome outcome = run({SP_PROGRAM, "convert", directory / "run", "-f", "autofdo"});
  EXPECT_EQ(outcome.exit_status(), 125) << outcome.text();
  EXPECT_TRUE(has(outcome.err, "has no debug information")) << outcome.err;
}

}  // namespace
}  // namespace sp::end_to_end
