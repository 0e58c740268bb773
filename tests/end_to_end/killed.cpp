// SIGKILL of superprofiler at any moment must leave the target running.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <string>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

/// Other tests may have guardians at the same time; this test's guardians end by themselves.
bool no_guardian_is_left(const std::vector<pid_t>& before) {
  return eventually([&] {
    for (const pid_t pid : processes_named("sp-guardian")) {
      if (std::find(before.begin(), before.end(), pid) != before.end() && is_alive(pid)) {
        return false;
      }
    }
    return true;
  });
}

/// Checks that every thread continues: no stop is left and CPU time is used.
void expect_running(pid_t pid, int round) {
  EXPECT_TRUE(eventually([&] { return what_was_left_behind(pid).empty(); }))
      << "round " << round << ": " << what_was_left_behind(pid);
  const auto ticks = cpu_ticks(pid);
  EXPECT_TRUE(eventually([&] { return cpu_ticks(pid) > ticks || state_of(pid, pid) == 'Z'; }))
      << "round " << round;
  EXPECT_NE(state_of(pid, pid), 'Z') << "round " << round << ": it has ended";
}

/// For how long each thread has run and waited for a CPU, and how often it was let run; by the
/// clock's ticks too, for kernels that do not tell.
std::string run_times(pid_t pid) {
  std::string times = std::to_string(cpu_ticks(pid)) + "\n";
  for (const pid_t tid : threads_of(pid)) {
    const std::string task = std::to_string(pid) + "/task/" + std::to_string(tid);
    times += read_file("/proc/" + task + "/schedstat");
  }
  return times;
}

// Without a limit, stops that arrive faster than they are served leave the target no time.
const Words kOften = {"-q", "-i", std::to_string(spaced(20)), "--overhead", "0"};

TEST(Killed, while_attached_leaves_the_target_running) {
  std::minstd_rand random(4);
  Running steady({target("steady"), "3", "2"});
  ASSERT_TRUE(steady.says("ready\n"));
  for (int round = 0; round < scaled(30) && !::testing::Test::HasFailure(); ++round) {
    const TempDir directory;
    Words options = kOften;
    options.insert(options.end(), {"-p", std::to_string(steady.pid())});
    Running profiler(superprofiler(directory, options));
    ASSERT_TRUE(eventually([&] { return status_of(steady.pid(), "TracerPid") != "0"; }));
    ::usleep(static_cast<useconds_t>(random() % 60000));  // a random moment
    profiler.signal(SIGKILL);
    EXPECT_EQ(profiler.wait().signal(), SIGKILL);
    expect_running(steady.pid(), round);
  }
  EXPECT_EQ(changed_text(steady.pid()), "");
  steady.close_input();
  EXPECT_EQ(steady.wait().out, "ready\nright\n");
  EXPECT_TRUE(no_guardian_is_left(processes_named("sp-guardian")));
}

TEST(Killed, while_it_runs_what_it_launched_leaves_that_running) {
  std::minstd_rand random(5);
  for (int round = 0; round < scaled(30) && !::testing::Test::HasFailure(); ++round) {
    const TempDir directory;
    Running profiler(superprofiler(directory, kOften, {target("steady"), "3", "2"}));
    ASSERT_TRUE(profiler.says("ready\n")) << profiler.err();
    const pid_t launched = launched_by(profiler.pid());
    ASSERT_GT(launched, 0);
    ::usleep(static_cast<useconds_t>(random() % 40000));
    profiler.signal(SIGKILL);
    ASSERT_TRUE(profiler.wait().wait_status);
    expect_running(launched, round);
    profiler.close_input();
    int status = -1;
    EXPECT_TRUE(eventually([&] { return ::waitpid(launched, &status, WNOHANG) == launched; }));
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "round " << round;
    EXPECT_EQ(profiler.out(), "ready\nright\n");
  }
  EXPECT_TRUE(no_guardian_is_left(processes_named("sp-guardian")));
}

TEST(Killed, before_the_program_began_leaves_nothing) {
  for (int round = 0; round < scaled(20); ++round) {
    const TempDir directory;
    Running profiler(superprofiler(directory, kOften, {target("steady"), "1"}));
    ::usleep(static_cast<useconds_t>(round) * 1500);
    profiler.signal(SIGKILL);
    EXPECT_TRUE(profiler.wait().wait_status);
    profiler.close_input();
    // Everything that it started ends now that its stdin has ended: nothing hangs.
    EXPECT_TRUE(eventually([] {
      const pid_t ended = ::waitpid(-1, nullptr, WNOHANG);
      return ended < 0;
    })) << "round "
        << round;
  }
}

TEST(Killed, while_the_target_is_stopped_by_others_leaves_it_stopped) {
  const TempDir directory;
  Running steady({target("steady"), "2"});
  ASSERT_TRUE(steady.says("ready\n"));
  Words options = kOften;
  options.insert(options.end(), {"-p", std::to_string(steady.pid())});
  Running profiler(superprofiler(directory, options));
  ASSERT_TRUE(eventually([&] { return status_of(steady.pid(), "TracerPid") != "0"; }));
  steady.signal(SIGSTOP);
  // The state of a traced process stopped by job control is 't', as during superprofiler's stops,
  // but it stays so. Where the machine is slow, a thread that is stopped often uses no tick for
  // long: its time is looked at to the nanosecond.
  ASSERT_TRUE(eventually([&] {
    const auto used = run_times(steady.pid());
    ::usleep(300'000);
    const auto tids = threads_of(steady.pid());
    return run_times(steady.pid()) == used && std::all_of(tids.begin(), tids.end(), [&](pid_t tid) {
             return (state_of(steady.pid(), tid) | 0x20) == 't';
           });
  }));
  const auto guardians = processes_named("sp-guardian");
  profiler.signal(SIGKILL);
  EXPECT_EQ(profiler.wait().signal(), SIGKILL);
  ::usleep(500'000);  // the guardian has restored it, and waits for its threads to run
  EXPECT_TRUE(eventually([&] { return state_of(steady.pid(), steady.pid()) == 'T'; }));
  steady.signal(SIGCONT);
  expect_running(steady.pid(), 0);
  EXPECT_TRUE(no_guardian_is_left(guardians));
  steady.close_input();
  EXPECT_EQ(steady.wait().out, "ready\nright\n");
}

}  // namespace
}  // namespace sp::end_to_end
