// Stops must not affect the target's system calls, signals and handlers.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "arch/native.h"
#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

const std::vector<Words>& ways_of_stopping() {
  static const std::vector<Words> ways = {
      {}, {"--stop-with", "interrupt"}, {"--wall"}, {"-i", "20", "--overhead", "0"}};
  return ways;
}

std::string joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) {
    text += word + " ";
  }
  return text;
}

constexpr const char* kCannotBeMadeAgain =
    "on this CPU a call is not made again if the stop meets a thread before it sleeps: README.md, "
    "Limits";

TEST(Interruptions, are_never_seen_by_blocking_calls) {
  if (arch::Native::kInterruptedCallIsGuessed) {
    GTEST_SKIP() << kCannotBeMadeAgain;
  }
  for (const Words& way : ways_of_stopping()) {
    const TempDir directory;
    const auto run = profile(directory, way, {target("eintr_watch"), "700"});
    EXPECT_EQ(run.outcome.out, "0 interrupted\n") << joined(way);
    EXPECT_EQ(run.outcome.exit_status(), 0) << joined(way) << run.outcome.text();
  }
}

// 140 children die. For a traced process the kernel queues even the SIGCHLD that it ignores, and
// wakes one thread for it (sig_ignored() and complete_signal() in kernel/signal.c). That thread's
// call is restarted when it stops with the signal. But if another thread that leaves a stop takes
// the signal first, the woken thread returns EINTR without a stop: no tracer can see it. Under
// strace, which restarts no calls, this test sees 2 to 12 of these.
TEST(Interruptions, are_hardly_ever_seen_by_blocking_calls_while_children_die) {
  if (arch::Native::kInterruptedCallIsGuessed) {
    GTEST_SKIP() << kCannotBeMadeAgain;
  }
  for (const Words& way : ways_of_stopping()) {
    const TempDir directory;
    const auto run = profile(directory, way, {target("eintr_watch"), "-c", "700"});
    ASSERT_NE(run.outcome.out.find(" interrupted\n"), std::string::npos) << run.outcome.text();
    EXPECT_LE(std::stoi(run.outcome.out), 7) << joined(way);
  }
}

TEST(Interruptions, do_not_touch_the_targets_own_handlers) {
  for (const Words& way : ways_of_stopping()) {
    const TempDir directory;
    const auto run = profile(directory, way, {target("own_handlers"), "200"});
    EXPECT_EQ(run.outcome.out, "800 faults 200 queued 0 bad\n") << joined(way);
    EXPECT_EQ(run.outcome.exit_status(), 0) << joined(way) << run.outcome.text();
  }
}

class SignalWays : public ::testing::TestWithParam<const char*> {};

TEST_P(SignalWays, are_as_without_us) {
  Words program = {target("signal_ways"), GetParam()};
  if (program.back() == "children-ignored") {
    program.push_back(std::to_string(scaled(50)));
  }
  const Outcome without = run(program);
  ASSERT_EQ(without.exit_status(), 0) << without.text();
  for (const Words& way : ways_of_stopping()) {
    const TempDir directory;
    const auto with = profile(directory, way, program);
    EXPECT_EQ(with.outcome.exit_status(), 0) << joined(way) << with.outcome.text();
    EXPECT_EQ(with.outcome.out, without.out) << joined(way);
    EXPECT_EQ(with.outcome.foreign_lines(), "") << joined(way);
  }
}

INSTANTIATE_TEST_SUITE_P(Each, SignalWays,
                         ::testing::Values("alarms", "queued", "masks", "altstack", "tiny-stacks",
                                           "seccomp-strict", "seccomp-filter", "children-ignored"),
                         [](const auto& way) {
                           std::string name = way.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

class WaitingWays : public ::testing::TestWithParam<const char*> {};

TEST_P(WaitingWays, are_as_without_us) {
  for (const Words& mode : {Words{}, Words{"-n"}, Words{"-a"}, Words{"--single"}}) {
    const TempDir directory;
    const auto with = profile(directory, mode, {target("waiting_ways"), GetParam()});
    EXPECT_EQ(with.outcome.exit_status(), 0) << joined(mode) << with.outcome.text();
    EXPECT_EQ(with.outcome.out, "right\n") << joined(mode);
  }
}

INSTANTIATE_TEST_SUITE_P(Each, WaitingWays,
                         ::testing::Values("block-all", "push-flags", "ignore-trap",
                                           "leave-handler", "set-in-vfork", "hand-on", "over-exec"),
                         [](const auto& way) {
                           std::string name = way.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Interruptions, leave_a_profiling_timer_its_ticks) {
  const Words program = {target("signal_ways"), "prof"};
  const double without = std::stod(run(program).out);
  const TempDir directory;
  const auto with = profile(directory, {}, program);
  ASSERT_EQ(with.outcome.exit_status(), 0) << with.outcome.text();
  // Per second of CPU time. Several signals of one number during a stop become one.
  EXPECT_GT(std::stod(with.outcome.out), 0.5 * without);
}

TEST(Continuing, runs_the_handler_each_time) {
  for (const Words& mode : {Words{}, Words{"-n"}, Words{"-a"}, Words{"--stop-with", "interrupt"}}) {
    Words options = mode;
    options.insert(options.end(), {"-q", "-i", "100"});
    const TempDir directory;
    const auto itself = profile(directory, options, {target("continues"), "itself", "300"});
    EXPECT_EQ(itself.outcome.out, "300 stopped, all handled\n") << joined(mode);
    const TempDir other;
    const auto running = profile(other, options, {target("continues"), "running", "2000"});
    EXPECT_EQ(running.outcome.out, "2000 answered\n") << joined(mode);
  }
}

TEST(Interruptions, let_a_target_trace_its_own_child_where_it_is_not_followed) {
  const TempDir directory;
  const auto run =
      profile(directory, {"--follow", "none"}, {target("signal_ways"), "traces-child"});
  EXPECT_EQ(run.outcome.out, "traced, 4\n");
  EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
}

}  // namespace
}  // namespace sp::end_to_end
