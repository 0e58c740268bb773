// SIGKILL of superprofiler while breakpoints are inserted, in programs that fork and that have
// threads. The long version is tests/stress/kill_rounds.sh.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <string>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

void kill_guardian(pid_t superprofiler) {
  for (const pid_t child : children_of(superprofiler)) {
    if (read_file("/proc/" + std::to_string(child) + "/comm") == "sp-guardian\n") {
      ::kill(child, SIGKILL);
      return;
    }
  }
  ADD_FAILURE() << "no guardian is a child of " << superprofiler;
}

class ExactKilled : public ::testing::Test {
 protected:
  /// Kills at a random moment after the first breakpoint; then the target must print `answer`.
  void expect_survivors(const Words& program, const std::string& answer,
                        bool and_its_guardian = false) {
    std::minstd_rand random(8);
    for (int round = 0; round < scaled(8) && !HasFailure(); ++round) {
      const TempDir directory;
      Running profiler(superprofiler(directory, {"-q", "--single"}, program));
      pid_t launched = 0;
      ASSERT_TRUE(eventually([&] {
        launched = launched_by(profiler.pid());
        return launched > 0 && !changed_text(launched).empty();
      }));
      ::usleep(static_cast<useconds_t>(random() % 500000));  // a random moment
      if (and_its_guardian) {
        kill_guardian(profiler.pid());
      }
      profiler.signal(SIGKILL);
      (void)profiler.wait();
      int status = -1;
      EXPECT_TRUE(eventually([&] { return ::waitpid(launched, &status, WNOHANG) != 0; }))
          << "round " << round << ": it hangs";
      EXPECT_TRUE(WIFEXITED(status)) << "round " << round << ": signal " << WTERMSIG(status);
      EXPECT_TRUE(eventually([&] { return profiler.out() == answer; }, std::chrono::seconds(1)))
          << "round " << round << ": " << profiler.out() << profiler.err();
    }
  }
};

TEST_F(ExactKilled, leaves_forked_children_alive) {
  expect_survivors({target("fork_tree"), "7"}, "127 processes, 0 bad\n");
}

class GuardianKilledToo : public ExactKilled {};

// Then the handler in the target removes the breakpoints.
TEST_F(GuardianKilledToo, leaves_all_alive) {
  expect_survivors({target("fork_tree"), "7"}, "127 processes, 0 bad\n", true);
  expect_survivors({target("counted_threads"), "8", "6000"}, "48000 24000\n", true);
}

TEST_F(ExactKilled, leaves_threads_alive) {
  expect_survivors({target("counted_threads"), "8", "6000"}, "48000 24000\n");
}

TEST_F(ExactKilled, with_thousands_of_hot_breakpoints_leaves_all_alive) {
  for (const Words& program :
       {Words{target("many_blocks"), "1", "60"}, Words{target("many_blocks"), "8", "8"}}) {
    expect_survivors(program, run(program).out);
  }
}

TEST_F(ExactKilled, leaves_programs_in_a_row_alive) {
  expect_survivors({target("exec_chain"), "10"}, "done\n");
}

// The kernel may leave a thread in its single step.
TEST_F(ExactKilled, in_single_steps_leaves_threads_alive) {
  std::minstd_rand random(9);
  for (int round = 0; round < scaled(8) && !HasFailure(); ++round) {
    const TempDir directory;
    Running program({target("steady"), "1", "2"});
    ASSERT_TRUE(program.says("ready\n"));
    const std::string pid = std::to_string(program.pid());
    Running profiler(superprofiler(directory, {"-q", "--single=step", "-p", pid}));
    ASSERT_TRUE(eventually(
        [&] { return status_of(program.pid(), "TracerPid") == std::to_string(profiler.pid()); }));
    ::usleep(static_cast<useconds_t>(100'000 + random() % 100'000));
    profiler.signal(SIGKILL);
    (void)profiler.wait();
    EXPECT_TRUE(eventually([&] { return what_was_left_behind(program.pid()).empty(); }));
    program.close_input();
    const Outcome outcome = program.wait();
    EXPECT_EQ(outcome.exit_status(), 0) << "round " << round << ": " << outcome.text();
    EXPECT_EQ(outcome.out, "ready\nright\n");
  }
}

}  // namespace
}  // namespace sp::end_to_end
