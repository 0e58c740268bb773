// SIGTRAP is the program's own, too: what it sets, blocks, sends and gets is as without us, in
// every mode, and so are its children that nobody traces.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <string>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

class Traps : public ::testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] static Words options() {
    Words all{"-q"};
    if (*GetParam() != '\0') {
      all.emplace_back(GetParam());
    }
    return all;
  }
  [[nodiscard]] static Outcome launch(const Words& program) {
    const TempDir directory;
    return run(superprofiler(directory, options(), program));
  }
  /// Attaches to the program as soon as it is ready, for `duration` if one is given, and waits for
  /// its end.
  [[nodiscard]] static Outcome attach(const Words& program, const char* duration = nullptr) {
    const TempDir directory;
    Running target(program);
    EXPECT_TRUE(target.says("ready\n"));
    Words all = options();
    all.insert(all.end(), {"-p", std::to_string(target.pid())});
    if (duration != nullptr) {
      all.insert(all.end(), {"-d", duration});
    }
    Running profiler(superprofiler(directory, all));
    const Outcome outcome = target.wait();
    EXPECT_EQ(profiler.wait().exit_status(), 0) << profiler.err();
    return outcome;
  }
};

TEST_P(Traps, that_a_program_ignores_are_ignored) {
  const Outcome launched = launch({target("trap_ways"), "ignore"});
  EXPECT_EQ(launched.out, "ready\nright\n") << launched.text();
  const Outcome attached = attach({target("trap_ways"), "ignore", "1"});
  EXPECT_EQ(attached.out, "ready\nright\n") << attached.text();
  for (int round = 0; round < scaled(4); ++round) {
    const Outcome left = attach({target("trap_ways"), "ignore", "0.7"}, "0.2s");
    EXPECT_EQ(left.out, "ready\nright\n") << left.text();
  }
}

TEST_P(Traps, are_blocked_where_the_program_blocks_them) {
  const Outcome launched = launch({target("trap_ways"), "block"});
  EXPECT_EQ(launched.out, "ready\nright\n") << launched.text();
  const Outcome attached = attach({target("trap_ways"), "block", "1"});
  EXPECT_EQ(attached.out, "ready\nright\n") << attached.text();
  const Outcome left = attach({target("trap_ways"), "block", "0.7"}, "0.2s");
  EXPECT_EQ(left.out, "ready\nright\n") << left.text();
  const Outcome sent = launch({target("trap_ways"), "blocked"});
  EXPECT_EQ(sent.out, "ready\nblocked\n");
  EXPECT_EQ(sent.signal(), SIGTRAP) << sent.text();
}

TEST_P(Traps, are_blocked_in_handlers_that_block_them) {
  const Outcome launched = launch({target("trap_ways"), "handlers", "0.5"});
  EXPECT_EQ(launched.out, "ready\nright\n") << launched.text();
  const Outcome attached = attach({target("trap_ways"), "handlers", "1"});
  EXPECT_EQ(attached.out, "ready\nright\n") << attached.text();
  const Outcome left = attach({target("trap_ways"), "handlers", "0.8"}, "0.2s");
  EXPECT_EQ(left.out, "ready\nright\n") << left.text();
}

TEST_P(Traps, of_the_programs_own_breakpoints_come_once) {
  const Outcome launched = launch({target("trap_ways"), "own"});
  EXPECT_EQ(launched.out, "ready\nright\n") << launched.text();
}

TEST_P(Traps, of_calls_that_a_program_dispatches_come_for_its_own_calls_alone) {
  const Outcome launched = launch({target("dispatches_calls")});
  EXPECT_EQ(launched.out, "right\n") << launched.text();
  EXPECT_EQ(launched.exit_status(), 0);
}

TEST_P(Traps, for_the_process_group_end_the_program_alone) {
  const Outcome outcome = launch({target("trap_ways"), "group"});
  EXPECT_EQ(outcome.signal(), SIGTRAP) << outcome.text();
  EXPECT_EQ(outcome.foreign_lines(), "");
  const Outcome attached = attach({target("trap_ways"), "group", "0.7"});
  EXPECT_EQ(attached.signal(), SIGTRAP) << attached.text();
}

// None of these is a control signal of superprofiler's.
TEST_P(Traps, and_other_signals_for_the_process_group_end_the_program_alone) {
  for (const int number : {SIGALRM, SIGUSR2, SIGVTALRM, SIGIO, SIGSTKFLT, SIGRTMAX}) {
    const Outcome outcome = launch({target("trap_ways"), "group", "0.01", std::to_string(number)});
    EXPECT_EQ(outcome.signal(), number) << outcome.text();
    EXPECT_EQ(outcome.foreign_lines(), "") << number;
  }
}

TEST_P(Traps, that_come_after_our_death_end_the_program) {
  for (int round = 0; round < scaled(8); ++round) {
    const TempDir directory;
    Running profiler(superprofiler(directory, options(), {target("trap_ways"), "late"}));
    ASSERT_TRUE(profiler.says("ready\n")) << profiler.err();
    const pid_t launched = launched_by(profiler.pid());
    ASSERT_GT(launched, 0);
    profiler.signal(SIGKILL);
    ASSERT_TRUE(profiler.wait().wait_status);
    profiler.close_input();
    int status = -1;
    ASSERT_TRUE(eventually([&] { return ::waitpid(launched, &status, WNOHANG) == launched; }));
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTRAP) << "round " << round;
  }
}

TEST_P(Traps, kill_no_child_that_is_made_with_unusual_flags) {
  const std::string alone = run({target("clone_ways")}).out;
  EXPECT_NE(alone, "");
  EXPECT_EQ(launch({target("clone_ways")}).out, alone);
  EXPECT_EQ(attach({target("clone_ways"), "10"}).out, "ready\n" + alone);
}

// A shell blocks all signals around its waiting for children.
TEST_P(Traps, kill_no_shell_when_superprofiler_is_killed) {
  std::minstd_rand random(7);
  const std::string script =
      "i=0; while [ $i -lt 150 ]; do x=$(echo a | cat) || echo bad; i=$((i+1)); done; echo done";
  for (int round = 0; round < scaled(8); ++round) {
    const TempDir directory;
    Running profiler(superprofiler(directory, options(), {shell(), "-c", "echo ready; " + script}));
    ASSERT_TRUE(profiler.says("ready\n")) << profiler.err();
    const pid_t launched = launched_by(profiler.pid());
    ::usleep(static_cast<useconds_t>(random() % 200'000));
    profiler.signal(SIGKILL);
    ASSERT_TRUE(profiler.wait().wait_status);
    int status = -1;
    ASSERT_TRUE(eventually([&] { return ::waitpid(launched, &status, WNOHANG) == launched; }));
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "round " << round;
    EXPECT_EQ(profiler.out(), "ready\ndone\n");
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, Traps, ::testing::Values("", "-n", "-a", "--single"),
                         [](const auto& instance) {
                           const std::string option = instance.param;
                           return option.empty()   ? std::string("default")
                                  : option == "-n" ? std::string("samples_only")
                                  : option == "-a" ? std::string("all_kept")
                                                   : std::string("exact");
                         });

}  // namespace
}  // namespace sp::end_to_end
