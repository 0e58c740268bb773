// Tables on a terminal go through the pager, and nowhere else.
#include <gtest/gtest.h>

#include <string>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

class Pager : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_program("script")) {
      GTEST_SKIP() << "script (util-linux) is not here";
    }
    profile({target("spin_shares"), "200"});
  }

  void profile(const Words& program, const Words& more = {}) {
    Words options = {"-q", "--name", "run", "--overwrite"};
    options.insert(options.end(), more.begin(), more.end());
    const Outcome outcome = run(superprofiler(directory_, options, program));
    ASSERT_EQ(outcome.exit_status(), 0) << outcome.text();
  }

  /// What a terminal shows of a subcommand.
  [[nodiscard]] std::string on_terminal(const Words& environment, const std::string& options = "",
                                        const std::string& command = "report") {
    Words words{"env", "TERM=xterm"};
    words.insert(words.end(), environment.begin(), environment.end());
    const std::string report =
        std::string(SP_PROGRAM) + " " + command + " " + directory_ / "run" + " " + options;
    for (const char* const word : {"script", "-qec", report.c_str(), "/dev/null"}) {
      words.emplace_back(word);
    }
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
    return outcome.out;
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  TempDir directory_;
};

TEST_F(Pager, shows_tables_on_a_terminal) {
  const std::string shown = on_terminal({"PAGER=tr a-z A-Z"});
  EXPECT_TRUE(has(shown, "CALLS")) << shown;
  EXPECT_TRUE(has(shown, "SPIN_SIXTY")) << shown;
  EXPECT_FALSE(has(shown, "spin_sixty")) << shown;
}

TEST_F(Pager, that_ends_early_is_no_error) {
  EXPECT_EQ(on_terminal({"PAGER=head -c 0"}), "");
  // Of more than a pipe holds, too.
  profile({target("many_blocks")}, {"-a"});
  EXPECT_EQ(on_terminal({"PAGER=head -c 0"}, "all_blocks", "annotate"), "");
}

TEST_F(Pager, is_left_out_where_there_is_none_or_none_is_wanted) {
  for (const char* const pager : {"PAGER=", "PAGER=cat", "PAGER=/nonexistent/pager"}) {
    EXPECT_TRUE(has(on_terminal({pager}), "spin_sixty")) << pager;
  }
  EXPECT_TRUE(has(on_terminal({"PAGER=tr a-z A-Z", "TERM=dumb"}), "spin_sixty"));
}

TEST_F(Pager, gets_no_json_and_nothing_from_a_pipe) {
  EXPECT_TRUE(has(on_terminal({"PAGER=tr a-z A-Z"}, "--json"), "\"rows\""));
  StartOptions options;
  options.environment = {"PAGER=tr a-z A-Z", "TERM=xterm"};
  EXPECT_TRUE(has(run({SP_PROGRAM, "report", directory_ / "run"}, options).out, "spin_sixty"));
}

}  // namespace
}  // namespace sp::end_to_end
