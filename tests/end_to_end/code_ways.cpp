// Libraries that are loaded and unloaded, code that is modified and code that is generated: in
// every mode the program behaves as it does alone, and code that stays is counted to the end.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "end_to_end/probe_support.h"

namespace sp::end_to_end {
namespace {

class CodeWays : public ::testing::TestWithParam<std::string> {};

Profiled count(const TempDir& directory, const Words& options, const Words& program) {
  Words all = {"-q", "--no-aslr"};
  all.insert(all.end(), options.begin(), options.end());
  Profiled run = profile(directory, all, program);
  const ::testing::ScopedTrace trace(__FILE__, __LINE__,
                                     options.empty() ? std::string("default") : options.back());
  EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_EQ(run.outcome.out, "0 wrong\n");
  if (!options.empty()) {
    EXPECT_EQ(calls_of(run.files, "each_round"), program.back() + " exact");
    // Overwritten code has the counts of other code at the same address.
    if (program[1] != "patches") {
      EXPECT_EQ(run.files.run()["counts"]["consistency"]["disagreeing"], 0);
    }
  }
  return run;
}

TEST_P(CodeWays, are_as_without_us_and_counted) {
  const Words program = {target("code_ways"), GetParam(), "20"};
  for (const Words& options : {Words{},
                               {"-a", "--derive"},
                               {"-a", "--only-instrument-execs", "all"},
                               {"--single=copies"},
                               {"--single"}}) {
    const TempDir directory;
    const Profiled run = count(directory, options, program);
    if (program[1] == "libraries" && !options.empty() && options.back() != "--derive") {
      // Two calls in each round, each of a new mapping.
      EXPECT_EQ(calls_of(run.files, "cbrt"), "40 exact");
    }
  }
}

TEST_P(CodeWays, count_the_same_planted_and_stepped) {
  const Words program = {target("code_ways"), GetParam(), "3"};
  const TempDir one;
  const TempDir other;
  const auto planted = blocks_of(count(one, {"--single"}, program).files, program[0]);
  const auto stepped = blocks_of(count(other, {"--single=step"}, program).files, program[0]);
  EXPECT_GT(planted.size(), 10U);
  EXPECT_EQ(hits_by_byte(planted), hits_by_byte(stepped));
}

INSTANTIATE_TEST_SUITE_P(Each, CodeWays, ::testing::Values("libraries", "patches", "jit"),
                         [](const auto& way) { return way.param; });

class WrittenText : public ::testing::TestWithParam<const char*> {};

// Through /proc/self/mem, and between two calls of mprotect.
TEST_P(WrittenText, is_what_is_executed) {
  Words program = {target("writes_text"), "200"};
  if (*GetParam() != '\0') {
    program.emplace_back(GetParam());
  }
  for (const Words& mode : {Words{},
                            {"-n"},
                            {"-a"},
                            {"--single"},
                            {"--trace"},
                            {"--trace", "-a"},
                            {"--tree"},
                            {"--coverage"}}) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, mode.empty() ? "default" : mode.back());
    const TempDir directory;
    Words options = {"-q"};
    options.insert(options.end(), mode.begin(), mode.end());
    const Profiled run = profile(directory, options, program);
    EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
    EXPECT_EQ(run.outcome.out, "ready\nright\n");
    if (mode == Words{"--single"}) {
      EXPECT_EQ(calls_of(run.files, "chosen"), "8000 exact");
    } else if (mode.empty() || mode == Words{"-a"}) {
      // Without -a nobody may have looked at it before.
      const std::string calls = calls_of(run.files, "chosen");
      EXPECT_TRUE(calls.find(" exact-until:") != std::string::npos ||
                  (mode.empty() && calls.empty()))
          << calls;
    }
  }
}

TEST_P(WrittenText, is_what_is_executed_while_and_after_we_are_attached) {
  Words program = {target("writes_text"), "20000"};
  if (*GetParam() != '\0') {
    program.emplace_back(GetParam());
  }
  for (const Words& mode : {Words{}, {"-a"}, {"--single"}, {"--trace"}}) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, mode.empty() ? "default" : mode.back());
    const TempDir directory;
    Running writer(program);
    ASSERT_TRUE(writer.says("ready"));
    Words options = mode;
    options.insert(options.end(), {"-q", "-d", "0.2", "-p", std::to_string(writer.pid())});
    const Outcome outcome = run(superprofiler(directory, options));
    EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
    EXPECT_EQ(writer.wait().exit_status(), 0) << writer.out();
    EXPECT_EQ(writer.out(), "ready\nright\n");
  }
}

INSTANTIATE_TEST_SUITE_P(By, WrittenText, ::testing::Values("", "thread"), [](const auto& writer) {
  return std::string(*writer.param == '\0' ? "itself" : "another_thread");
});

/// What keeps bytes of its code and writes them again finds its own, whatever is traced there.
class PatchedItself : public ::testing::TestWithParam<Words> {};

TEST_P(PatchedItself, runs_as_without_us) {
  const TempDir directory;
  Words options = GetParam();
  options.insert(options.begin(), "-q");
  const Profiled run = profile(directory, options, {target("patches_itself"), "20"});
  EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  // What is only counted is not removed before it is written over.
  const bool may_differ =
      GetParam().empty() || GetParam() == Words{"-a"} || GetParam() == Words{"--coverage"};
  EXPECT_TRUE(run.outcome.out == "ready\n4000 calls, 2000 hooked, the same\n" ||
              (may_differ && run.outcome.out == "ready\n4000 calls, 2000 hooked, other bytes\n"))
      << run.outcome.out;
  const std::string calls = calls_of(run.files, "patched");
  EXPECT_TRUE(calls.empty() || calls == "4000 exact" || calls == " not-counted" ||
              calls.find("until:") != std::string::npos)
      << calls;
  if (!GetParam().empty() && GetParam().front() == "--trace") {
    EXPECT_EQ(calls.find("4000 "), 0U) << calls;
  }
}

TEST_P(PatchedItself, runs_as_without_us_when_attached) {
  const TempDir directory;
  Running program({target("patches_itself"), "400", "2000"});
  ASSERT_TRUE(program.says("ready"));
  Words options = GetParam();
  options.insert(options.end(), {"-q", "-d", "0.5", "-p", std::to_string(program.pid())});
  const Outcome outcome = run(superprofiler(directory, options));
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_EQ(program.wait().exit_status(), 0) << program.out();
  EXPECT_TRUE(program.out().starts_with("ready\n80000 calls, 40000 hooked, ")) << program.out();
}

INSTANTIATE_TEST_SUITE_P(In, PatchedItself,
                         ::testing::Values(Words{}, Words{"-a"}, Words{"-n"}, Words{"--single"},
                                           Words{"--trace"}, Words{"--trace", "-a"},
                                           Words{"--trace", "--via", "patchable"},
                                           Words{"--trace", "--via", "int3"}, Words{"--tree"},
                                           Words{"--coverage"}),
                         [](const auto& mode) {
                           std::string name;
                           for (const std::string& word : mode.param) {
                             name += word.substr(word.find_first_not_of('-'));
                           }
                           return name.empty() ? std::string("default") : name;
                         });

// Valgrind reads code, some of its own too, and executes what it makes of it.
TEST(CodeThatIsRead, by_valgrind_has_no_breakpoints) {
  if (!has_program("valgrind")) {
    GTEST_SKIP() << "valgrind is not installed";
  }
  for (const Words& mode :
       {Words{"--trace", "--via", "int3"}, {"--tree"}, {"--coverage"}, {"-a"}}) {
    const TempDir directory;
    const Profiled profiled = profile(directory, mode, {"valgrind", "-q", "/bin/true"});
    EXPECT_EQ(profiled.outcome.exit_status(), 0) << mode.front() << profiled.outcome.text();
    EXPECT_NE(profiled.outcome.err.find("runs in valgrind"), std::string::npos)
        << profiled.outcome.err;
  }
}

}  // namespace
}  // namespace sp::end_to_end
