// superprofiler where it may have few files open: what it cannot follow runs as alone, and it says
// how much that was.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

/// The words with a limit of open files, soft and hard.
Words limited_to(int files, const Words& words) {
  Words limited = {"sh", "-c", "ulimit -n " + std::to_string(files) + "; exec \"$@\"", "sh"};
  limited.insert(limited.end(), words.begin(), words.end());
  return limited;
}

class OpenFiles : public ::testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] Outcome run_limited(int files, Words options, const Words& program) const {
    options.push_back(GetParam());
    StartOptions start;
    start.input = "";
    Running running(limited_to(files, superprofiler(directory_, options, program)), start);
    return running.wait(std::chrono::seconds(lengthened(60)));
  }
  [[nodiscard]] RunFiles files() const { return RunFiles(directory_ / "run"); }

  TempDir directory_;
};

TEST_P(OpenFiles, that_are_too_few_for_any_run_are_refused_before_it) {
  const Outcome outcome = run_limited(24, {}, {"echo", "ran"});
  EXPECT_EQ(outcome.exit_status(), 125) << outcome.text();
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("needs 64 open files and may have 24: raise the limit (ulimit -Hn)"),
            std::string::npos)
      << outcome.err;
}

TEST_P(OpenFiles, that_are_too_few_for_all_children_leave_some_to_themselves) {
  const Outcome outcome = run_limited(80, {"--follow", "all"}, {target("fork_tree"), "7", "wait"});
  ASSERT_TRUE(outcome.wait_status.has_value()) << "hangs " << outcome.text();
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_EQ(outcome.out, "127 processes, 0 bad\n") << outcome.text();
  const auto unfollowed = files().run()["losses"]["unfollowed_processes"].get<std::uint64_t>();
  if (GetParam() == "-n") {
    EXPECT_EQ(unfollowed, 0U);
    return;
  }
  EXPECT_GT(unfollowed, 2U);
  EXPECT_NE(outcome.err.find(std::to_string(unfollowed) + " processes, and their children, were"),
            std::string::npos)
      << outcome.err;
  if (GetParam() == "--single" || GetParam() == "-a") {
    constexpr std::uint64_t kInEach = 3;
    const auto seen = files().run()["process_count"].get<std::uint64_t>();
    EXPECT_GT(seen, unfollowed + 10);
    EXPECT_EQ(files().calls_of("in_each", "fork_tree"), kInEach * (seen - unfollowed))
        << outcome.text();
  }
}

TEST_P(OpenFiles, are_enough_for_more_threads_than_they_are) {
  const Words program = {target("thread_sums"), "150", GetParam() == "--single" ? "100" : "300000"};
  const Outcome outcome = run_limited(64, {}, program);
  ASSERT_TRUE(outcome.wait_status.has_value()) << "hangs " << outcome.text();
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_EQ(outcome.out, run(program).out) << outcome.text();
  EXPECT_EQ(files().run()["losses"]["unfollowed_processes"], 0);
}

INSTANTIATE_TEST_SUITE_P(InEachMode, OpenFiles,
                         testing::Values("--overhead=25", "-n", "-a", "--single", "--trace",
                                         "--tree", "--wall"),
                         [](const auto& tested) {
                           const std::string word =
                               tested.param.substr(tested.param.rfind('-') + 1);
                           return word.substr(0, word.find('='));
                         });

}  // namespace
}  // namespace sp::end_to_end
