// A process continues after an attach as if nothing had happened.
#include <elf.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>

#include "arch/native.h"
#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

Words attach(const TempDir& directory, pid_t pid, Words options = {}, const Words& load = {}) {
  options.insert(options.end(), {"-p", std::to_string(pid)});
  return superprofiler(directory, options, load);
}

/// All of its threads are traced by `tracer`.
bool is_attached(pid_t pid, pid_t tracer) {
  return eventually([&] { return status_of(pid, "TracerPid") == std::to_string(tracer); });
}

/// Busy and sleeping threads that end, checked, when their stdin does.
class Steady {
 public:
  explicit Steady(int workers, int sleepers = 0)
      : running_({target("steady"), std::to_string(workers), std::to_string(sleepers)}) {
    is_ready_ = running_.says("ready\n");
  }
  [[nodiscard]] bool is_ready() const { return is_ready_; }
  [[nodiscard]] pid_t pid() const { return running_.pid(); }
  [[nodiscard]] Running& running() { return running_; }

  /// Checks that it continues unharmed and ends with the right answer.
  void expect_unharmed() {
    EXPECT_EQ(what_was_left_behind(pid()), "");
    EXPECT_EQ(changed_text(pid()), "");
    const auto ticks = cpu_ticks(pid());
    EXPECT_TRUE(eventually([&] { return cpu_ticks(pid()) > ticks; })) << "it does not run";
    expect_right_answer();
  }
  void expect_right_answer() {
    running_.close_input();
    const Outcome outcome = running_.wait();
    EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
    EXPECT_EQ(outcome.out, "ready\nright\n");
  }

 private:
  Running running_;
  bool is_ready_ = false;
};

class AttachLeavesBy : public ::testing::TestWithParam<int> {};

TEST_P(AttachLeavesBy, a_signal_without_a_trace) {
  for (const char* way : {"sigstop", "interrupt"}) {
    const TempDir directory;
    Steady steady(3, 5);
    ASSERT_TRUE(steady.is_ready());
    Running profiler(attach(directory, steady.pid(), {"--stop-with", way}));
    ASSERT_TRUE(is_attached(steady.pid(), profiler.pid())) << profiler.err();
    const auto ticks = cpu_ticks(steady.pid());
    ASSERT_TRUE(eventually([&] { return cpu_ticks(steady.pid()) > ticks + 30; }));
    profiler.signal(GetParam());
    const Outcome outcome = profiler.wait();
    EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
    const RunFiles files(directory / "run");
    EXPECT_TRUE(files.complete()) << outcome.text();
    EXPECT_GT(files.total_of("add_up"), 0U) << outcome.text();
    EXPECT_EQ(files.run().at("end"), "detached");
    steady.expect_unharmed();
  }
}

INSTANTIATE_TEST_SUITE_P(Each, AttachLeavesBy, ::testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST(Attach, ends_by_duration) {
  const TempDir directory;
  Steady steady(2, 5);
  ASSERT_TRUE(steady.is_ready());
  const Outcome outcome = run(attach(directory, steady.pid(), {"-d", "300ms"}));
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.foreign_lines(), "");
  EXPECT_GT(RunFiles(directory / "run").samples(), 0U);
  steady.expect_unharmed();
}

using Sleepers = std::pair<const char*, const char*>;
class AttachToSleepers : public ::testing::TestWithParam<Sleepers> {};

TEST_P(AttachToSleepers, ends_no_call) {
  const auto [mode, beside] = GetParam();
  for (int round = 0; round < scaled(3); ++round) {
    const TempDir directory;
    Running sleepers({target("listed_sleepers"), beside});
    ASSERT_TRUE(sleepers.says("ready\n"));
    const Outcome outcome = run(attach(directory, sleepers.pid(), {mode, "-d", "300ms"}));
    EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
    EXPECT_EQ(what_was_left_behind(sleepers.pid()), "");
    EXPECT_EQ(changed_text(sleepers.pid()), "");
    sleepers.close_input();
    EXPECT_EQ(sleepers.wait().out, "ready\nright\n");
  }
}

INSTANTIATE_TEST_SUITE_P(Each, AttachToSleepers,
                         ::testing::Values(Sleepers{"-n", "busy"}, Sleepers{"--wall", "busy"},
                                           Sleepers{"-q", "busy"}, Sleepers{"-a", "busy"},
                                           Sleepers{"--single", "busy"},
                                           Sleepers{"--single", "idle"}),
                         [](const auto& sleepers) {
                           std::string mode = sleepers.param.first;
                           mode.erase(0, mode.find_first_not_of('-'));
                           return mode + "_" + sleepers.param.second;
                         });

TEST(Attach, survives_many_rounds) {
  Steady steady(6, 3);
  ASSERT_TRUE(steady.is_ready());
  for (int round = 0; round < scaled(30); ++round) {
    const TempDir directory;
    const Outcome outcome = run(attach(directory, steady.pid(), {"-q", "-d", "20ms", "-i", "50"}));
    ASSERT_EQ(outcome.exit_status(), 0) << round << outcome.text();
    ASSERT_EQ(what_was_left_behind(steady.pid()), "") << round;
  }
  steady.expect_unharmed();
}

TEST(Attach, stops_no_thread_that_sleeps) {
  const TempDir directory;
  Steady steady(0, 15);
  ASSERT_TRUE(steady.is_ready());
  const Outcome outcome = run(attach(directory, steady.pid(), {"-d", "500ms"}));
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_EQ(RunFiles(directory / "run").stops(), 0U);
  EXPECT_EQ(what_was_left_behind(steady.pid()), "");
  steady.expect_right_answer();
}

TEST(Attach, shows_what_sleeping_threads_wait_for) {
  const TempDir directory;
  Steady steady(0, 5);
  ASSERT_TRUE(steady.is_ready());
  const Outcome outcome = run(attach(directory, steady.pid(), {"--wall", "-d", "1s"}));
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  const RunFiles files(directory / "run");
  EXPECT_LE(files.stops(), 12U) << "more than one for each wait";
  EXPECT_GT(files.total_of("rest"), files.samples() / 2) << outcome.text();
  // aarch64 kernels have no epoll_wait.
  const char* const epoll = arch::Native::kElfMachine == EM_X86_64 ? "epoll_wait" : "epoll_pwait";
  for (const char* call : {"futex", "clock_nanosleep", "read", epoll}) {
    EXPECT_GT(files.self_of("[blocked: " + std::string(call) + "]"), 0U) << call;
  }
  EXPECT_EQ(what_was_left_behind(steady.pid()), "");
  steady.expect_right_answer();
}

TEST(Attach, lasts_as_long_as_the_load_beside_it) {
  const TempDir directory;
  Steady steady(2);
  ASSERT_TRUE(steady.is_ready());
  const Outcome outcome =
      run(attach(directory, steady.pid(), {}, {"/bin/sh", "-c", "echo load; sleep 1; exit 3"}));
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_EQ(outcome.out, "load\n");
  const RunFiles files(directory / "run");
  EXPECT_GT(files.total_of("add_up"), 0U) << outcome.text();
  EXPECT_EQ(files.run().at("process_count"), 1);
  steady.expect_unharmed();
}

TEST(Attach, says_what_is_wrong_with_the_load) {
  const TempDir directory;
  Steady steady(1);
  ASSERT_TRUE(steady.is_ready());
  const Outcome outcome = run(attach(directory, steady.pid(), {}, {"no-such-load"}));
  EXPECT_EQ(outcome.exit_status(), 127) << outcome.text();
  EXPECT_NE(outcome.err.find("cannot run 'no-such-load'"), std::string::npos) << outcome.text();
  steady.expect_unharmed();
}

// The parent, which nobody traces, would die at a breakpoint that the child has in their memory.
TEST(Attach, to_a_child_of_vfork_lets_its_parent_live) {
  for (const Words& mode :
       {Words{}, {"-a"}, {"--trace"}, {"--coverage"}, {"--single"}, {"--single=step"}}) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, mode.empty() ? "default" : mode.back());
    const TempDir directory;
    Running parent({target("works_in_vfork")});
    ASSERT_TRUE(parent.says("\n"));
    const auto child = static_cast<pid_t>(std::stol(parent.out()));
    Running tracer(attach(directory, child, mode));
    EXPECT_TRUE(is_attached(child, tracer.pid()));
    for (int i = 0; i < 20; ++i) {
      parent.write_input("ten times:");
      ::usleep(5'000);
    }
    parent.close_input();
    EXPECT_EQ(parent.wait().exit_status(), 7);
    const Outcome outcome = tracer.wait();
    EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  }
}

TEST(Attach, copes_with_a_target_that_is_killed) {
  std::minstd_rand random(17);
  for (int round = 0; round < scaled(15); ++round) {
    const TempDir directory;
    Steady steady(4, 2);
    ASSERT_TRUE(steady.is_ready());
    Running profiler(attach(directory, steady.pid(), {"-q", "-i", "30"}));
    if (round % 3 != 0) {
      ASSERT_TRUE(is_attached(steady.pid(), profiler.pid()));
    }
    ::usleep(static_cast<useconds_t>(random() % 50000));  // a random moment
    steady.running().signal(SIGKILL);
    const Outcome outcome = profiler.wait();
    ASSERT_TRUE(outcome.wait_status) << "round " << round << ": still running";
    // Killed before the attach: a refusal; later: a run that ended.
    EXPECT_TRUE(outcome.exit_status() == 0 || (round % 3 == 0 && outcome.exit_status() == 125))
        << outcome.text();
    if (outcome.exit_status() == 0) {
      EXPECT_TRUE(RunFiles(directory / "run").complete()) << outcome.text();
    }
  }
}

TEST(Attach, ends_with_the_target) {
  const TempDir directory;
  Steady steady(2);
  ASSERT_TRUE(steady.is_ready());
  Running profiler(attach(directory, steady.pid()));
  ASSERT_TRUE(is_attached(steady.pid(), profiler.pid()));
  steady.expect_right_answer();
  const Outcome outcome = profiler.wait();
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_EQ(RunFiles(directory / "run").run().at("end"), "target_exited");
}

TEST(Attach, copes_with_a_leader_that_has_left) {
  const TempDir directory;
  StartOptions start;
  start.input = "";
  Running leaver({target("leader_leaves"), "1200"}, start);
  ASSERT_TRUE(eventually([&] { return state_of(leaver.pid(), leaver.pid()) == 'Z'; }));
  const Outcome outcome = run(attach(directory, leaver.pid(), {"-d", "300ms"}));
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_GT(RunFiles(directory / "run").total_of("carry_on"), 0U) << outcome.text();
  EXPECT_EQ(what_was_left_behind(leaver.pid()), "");
  EXPECT_EQ(leaver.wait().exit_status(), 17);
}

TEST(Attach, leaves_a_stopped_process_stopped) {
  const TempDir directory;
  Steady steady(3, 2);
  ASSERT_TRUE(steady.is_ready());
  steady.running().signal(SIGSTOP);
  const auto all_stopped = [&] {
    const auto tids = threads_of(steady.pid());
    return std::all_of(tids.begin(), tids.end(),
                       [&](pid_t tid) { return state_of(steady.pid(), tid) == 'T'; });
  };
  ASSERT_TRUE(eventually(all_stopped));
  const Outcome outcome = run(attach(directory, steady.pid(), {"-d", "300ms"}));
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_EQ(status_of(steady.pid(), "TracerPid"), "0");
  EXPECT_TRUE(eventually(all_stopped));
  const auto ticks = cpu_ticks(steady.pid());
  EXPECT_EQ(cpu_ticks(steady.pid()), ticks);
  steady.running().signal(SIGCONT);
  EXPECT_TRUE(eventually([&] { return what_was_left_behind(steady.pid()).empty(); }));
  steady.expect_unharmed();
}

void expect_refusal(pid_t pid, const std::string& reason) {
  const TempDir directory;
  const Outcome outcome = run(attach(directory, pid));
  EXPECT_EQ(outcome.exit_status(), 125) << outcome.text();
  EXPECT_NE(outcome.err.find(reason), std::string::npos) << outcome.text();
  EXPECT_EQ(outcome.foreign_lines(), "");
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.text();
  EXPECT_NE(::access((directory / "run").c_str(), F_OK), 0) << "a run's directory was left";
}

TEST(Attach, refuses_what_cannot_be_profiled_and_says_why) {
  Running gone({"/bin/true"});
  (void)gone.wait();
  expect_refusal(gone.pid(), "no process " + std::to_string(gone.pid()));

  const pid_t zombie = ::fork();
  if (zombie == 0) {
    ::_exit(0);
  }
  ASSERT_TRUE(eventually([&] { return state_of(zombie, zombie) == 'Z'; }));
  expect_refusal(zombie, "zombie");
  ::waitpid(zombie, nullptr, 0);

  if (read_file("/proc/2/comm") == "kthreadd\n") {
    expect_refusal(2, "kernel thread");
  }

  Steady steady(2);
  ASSERT_TRUE(steady.is_ready());
  const auto tids = threads_of(steady.pid());
  ASSERT_GT(tids.size(), 1U);
  expect_refusal(tids[1], "one thread of process " + std::to_string(steady.pid()));

  const TempDir directory;
  Running first(attach(directory, steady.pid()));
  ASSERT_TRUE(is_attached(steady.pid(), first.pid()));
  expect_refusal(steady.pid(), "traced");
  expect_refusal(steady.pid(), std::to_string(first.pid()));  // by whom
  first.signal(SIGINT);
  EXPECT_EQ(first.wait().exit_status(), 0);
  steady.expect_unharmed();
}

TEST(Attach, refuses_itself) {
  const TempDir directory;
  const Outcome outcome =
      run({"/bin/sh", "-c", "exec \"$0\" -o \"$1\" -p $$", SP_PROGRAM, directory.path()});
  EXPECT_EQ(outcome.exit_status(), 125) << outcome.text();
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.text();
}

TEST(Attach, names_the_run_after_the_target) {
  const TempDir directory;
  Steady steady(1);
  ASSERT_TRUE(steady.is_ready());
  const Outcome outcome = run({SP_PROGRAM, "-q", "-o", directory.path(), "-d", "100ms", "-p",
                               std::to_string(steady.pid())});
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_EQ(outcome.err, "");
  EXPECT_TRUE(RunFiles(directory / ("steady-" + std::to_string(steady.pid()))).complete());
}

// The kernel tells a sleeper that is interrupted what remains, although it then sleeps on.
TEST(Attach, leaves_alone_what_remains_of_a_sleep) {
  if (arch::Native::kInterruptedCallIsGuessed) {
    GTEST_SKIP() << "on this CPU a stop does not tell a sleep: README.md, Limits";
  }
  // One stop may meet a thread that has just gone to sleep: README.md, Limits. Without any care
  // each sleep that a stop meets is changed.
  for (const Words& mode : {Words{"-i", "10s"}, Words{"--wall", "-i", "10s"}, Words{"--single"}}) {
    Running program({target("sleep_remains")});
    ASSERT_TRUE(program.says("ready\n"));
    for (int i = 0; i < scaled(5); ++i) {
      ::usleep(150'000);  // a sleep that the last run has restarted does not show what it was
      const TempDir directory;
      Words options = mode;
      options.insert(options.end(), {"-q", "-d", "0.3s"});
      const Outcome outcome = run(attach(directory, program.pid(), options));
      EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
    }
    program.close_input();
    const std::string out = program.wait().out;
    EXPECT_TRUE(out == "ready\n0 changed\n" || out == "ready\n1 changed\n") << mode.front() << out;
  }
}

}  // namespace
}  // namespace sp::end_to_end
