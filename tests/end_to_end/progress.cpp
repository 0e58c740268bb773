// Who waits for longer than a second on a terminal sees what for.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

constexpr const char* kErases = "\r\x1b[2K";

class Progress : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_program("script")) {
      GTEST_SKIP() << "script (util-linux) is not here";
    }
  }

  /// Replaces a file by a pipe to which its content comes after three seconds. Returns the shell's
  /// command for that.
  [[nodiscard]] std::string slow(const std::string& file) const {
    std::filesystem::rename(file, file + ".kept");
    EXPECT_EQ(run({"mkfifo", file}).exit_status(), 0);
    return "(sleep 3; cat " + file + ".kept > " + file + ") & ";
  }

  /// `shell` is in front of superprofiler's words.
  void expect_line(const std::string& shell, const std::string& words, const std::string& text) {
    const std::string command = shell + SP_PROGRAM + " " + words;
    const std::string shown = run({"script", "-qec", command, "/dev/null"}).out;
    EXPECT_NE(shown.find(std::string(kErases) + "superprofiler: " + text), std::string::npos)
        << shown;
    EXPECT_EQ(shown.find(text, shown.rfind(kErases)), std::string::npos)
        << "left on the screen: " << shown;
    const std::string none = run({"script", "-qec", command + " --no-progress", "/dev/null"}).out;
    EXPECT_EQ(none.find(text), std::string::npos) << none;
    const Outcome piped = run({"sh", "-c", command});
    EXPECT_EQ(piped.exit_status(), 0) << piped.text();
    EXPECT_EQ(piped.err.find(text), std::string::npos) << piped.err;
  }

  TempDir directory_;
};

TEST_F(Progress, is_shown_while_runs_are_compared) {
  ASSERT_EQ(profile(directory_, {"-n"}, {target("known_counts"), "3"}).outcome.exit_status(), 0);
  const std::string before = directory_ / "before";
  std::filesystem::copy(directory_ / "run", before);
  std::filesystem::remove(before + "/recording.sp");
  expect_line(slow(before + "/functions.tsv"), "diff " + before + " " + (directory_ / "run"),
              "comparing runs");
}

TEST_F(Progress, is_shown_while_coverage_is_merged) {
  ASSERT_EQ(
      profile(directory_, {"--coverage"}, {target("known_counts"), "3"}).outcome.exit_status(), 0);
  const std::string other = directory_ / "other";
  std::filesystem::copy(directory_ / "run", other);
  expect_line(
      slow(other + "/coverage.tsv"),
      "coverage merge " + other + " " + (directory_ / "run") + " -o " + (directory_ / "merged"),
      "reading " + other + "/coverage.tsv");
}

}  // namespace
}  // namespace sp::end_to_end
