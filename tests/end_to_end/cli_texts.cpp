#include <gtest/gtest.h>

#include "end_to_end/cli_shell.h"

namespace sp::end_to_end {
namespace {

TEST(CommandLine, prints_help_and_version_on_stdout) {
  for (const std::string option : {"--help", "-h", "--version", "-V", "doctor --help"}) {
    const ShellOutcome outcome = shell("\"$SP\" " + option + " 2>/dev/null");
    EXPECT_EQ(outcome.status, 0) << option;
    EXPECT_TRUE(outcome.output.starts_with("superprofiler")) << outcome.output;
  }
}

TEST(CommandLine, refuses_with_status_2_on_stderr_and_starts_nothing) {
  const ShellOutcome outcome = shell(
      "\"$SP\" --nmae x -- echo started 2>&1 >/dev/null; echo $?; \"$SP\" -i 0 -- echo started "
      "2>/dev/null");
  EXPECT_EQ(outcome.output, "superprofiler: there is no option --nmae; did you mean --name?\n2\n");
  EXPECT_EQ(outcome.status, 2);
}

TEST(CommandLine, says_how_a_command_is_given) {
  EXPECT_EQ(shell("\"$SP\" echo -n started 2>&1").output,
            "superprofiler: put -- in front of the command: superprofiler -- echo -n started\n");
}

TEST(Completion, is_loaded_by_bash) {
  if (!has_program("bash")) {
    GTEST_SKIP() << "bash is not installed";
  }
  const ShellOutcome outcome =
      shell(R"(bash -c 'source <("$SP" --completions bash) && complete -p superprofiler')");
  EXPECT_EQ(outcome.output, "complete -F _superprofiler superprofiler\n");
  EXPECT_EQ(outcome.status, 0);
}

TEST(Completion, offers_options_values_and_the_targets_words_in_bash) {
  if (!has_program("bash")) {
    GTEST_SKIP() << "bash is not installed";
  }
  const ShellOutcome outcome = shell(R"(bash -c 'source <("$SP" --completions bash)
    complete_words() {
      COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _superprofiler; echo "${COMPREPLY[*]}"
    }
    complete_words superprofiler --fl
    complete_words superprofiler --color ""
    complete_words superprofiler doc
    complete_words superprofiler doctor --p
    complete_words superprofiler --flame -- cat /etc/passw | tr " " "\n" | grep -x /etc/passwd')");
  EXPECT_EQ(outcome.output, "--flame\nauto always never\ndoctor\n--pid\n/etc/passwd\n");
}

TEST(Completion, is_read_by_zsh) {
  if (!has_program("zsh")) {
    GTEST_SKIP() << "zsh is not installed";
  }
  const ShellOutcome outcome = shell(
      "zsh -fc 'autoload -Uz compinit; compinit -D -u; source <(\"$SP\" --completions zsh); "
      "print $_comps[superprofiler]' 2>&1");
  EXPECT_EQ(outcome.output, "_superprofiler\n");
}

TEST(Completion, is_read_by_fish) {
  if (!has_program("fish")) {
    GTEST_SKIP() << "fish is not installed";
  }
  const ShellOutcome outcome = shell(
      "HOME=/nonexistent fish --no-config -c '\"$SP\" --completions fish | source; "
      "complete -C \"superprofiler --fla\"; complete -C \"superprofiler --threads \"' 2>/dev/null");
  EXPECT_EQ(outcome.output,
            "--flame\twrite flamegraph.svg too\nall\tall or main; main with -p TID: that thread "
            "[all]\nmain\tall or main; main with -p TID: that thread [all]\n");
}

TEST(ManPages, are_clean_for_groff) {
  if (!has_program("groff")) {
    GTEST_SKIP() << "groff is not installed";
  }
  EXPECT_EQ(shell("for page in '" SP_SOURCE_DIR
                  "/docs/man/'*.1; do groff -man -Tutf8 -ww -z \"$page\" 2>&1; done")
                .output,
            "");
}

}  // namespace
}  // namespace sp::end_to_end
