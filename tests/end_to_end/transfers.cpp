// A transfer that a stop has cut short is completed before the program sees its result.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <string>

#include "arch/native.h"
#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

Words with(Words options, const Words& more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

const Words kManyStops = {"-i", "100us", "--overhead", "0"};

/// Each mode, with some 10,000 stops a second where it samples.
const std::vector<Words>& modes() {
  static const std::vector<Words> all = {
      kManyStops, with(kManyStops, {"-n"}), with(kManyStops, {"-a"}), {"--single"}};
  return all;
}

class Transfers : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!arch::NativeTransferStub::kIsAvailable) {
      GTEST_SKIP() << "on this CPU the rest of a transfer is not made: README.md, Limits";
    }
  }
};

TEST_P(Transfers, are_whole_in_a_launched_program) {
  // Counting everything takes long; attached programs show it for the other kinds.
  const bool is_counted =
      GetParam() == std::string("pipes") || GetParam() == std::string("sendfile");
  for (const Words& mode : modes()) {
    const bool counts_all = mode.back() == "--single" || mode.back() == "-a";
    if (counts_all && !is_counted) {
      continue;
    }
    const TempDir directory;
    const int rounds = counts_all ? 1 : scaled(3);
    const auto run =
        profile(directory, mode, {target("transfers"), GetParam(), std::to_string(rounds)});
    EXPECT_EQ(run.outcome.out, "ready\nright\n") << mode.back();
    EXPECT_EQ(run.outcome.exit_status(), 0) << mode.back() << run.outcome.text();
  }
}

// Attached and detached, again and again.
TEST_P(Transfers, are_whole_in_a_program_that_runs_already) {
  for (const Words& mode : modes()) {
    Running program({target("transfers"), GetParam()});
    ASSERT_TRUE(program.says("ready\n"));
    for (int i = 0; i < scaled(2); ++i) {
      const TempDir directory;
      const Outcome outcome = run(superprofiler(
          directory, with(mode, {"-d", "0.2s", "-p", std::to_string(program.pid())})));
      EXPECT_EQ(outcome.exit_status(), 0) << mode.back() << outcome.text();
    }
    EXPECT_EQ(what_was_left_behind(program.pid()), "");
    program.close_input();
    EXPECT_EQ(program.wait().out, "ready\nright\n") << mode.back();
  }
}

// They are in a call when their functions begin to run from copies.
TEST(TransfersInCopies, are_whole) {
  if (!arch::NativeTransferStub::kIsAvailable) {
    GTEST_SKIP() << "on this CPU the rest of a transfer is not made: README.md, Limits";
  }
  Running program({target("calls_while_copied")});
  ASSERT_TRUE(program.says("ready\n"));
  int most = 0;
  for (int i = 0; i < scaled(18); ++i) {
    const TempDir directory;
    const Outcome outcome = sp::end_to_end::run(
        superprofiler(directory, {"-a", "-d", "0.5s", "-p", std::to_string(program.pid())}));
    EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
    const auto run = RunFiles(directory / "run").run();
    most = std::max<int>(most, run.at("probes").at("copies").at("functions"));
  }
  EXPECT_GE(most, 20);  // fewer on a busy machine, now and then
  program.close_input();
  EXPECT_EQ(program.wait().out, "ready\nright\n");
}

INSTANTIATE_TEST_SUITE_P(Each, Transfers,
                         ::testing::Values("pipes", "unix", "tcp", "writes", "sendfile",
                                           "copy_file_range", "splice", "getrandom", "receives",
                                           "nonblocking"),
                         [](const auto& kind) { return std::string(kind.param); });

// The transfer that is cut short by the last stop stays short, but what the thread is told is what
// was transferred: it completes by itself what it is in the middle of.
TEST(KilledInTransfers, the_results_are_right) {
  for (const char* kind : {"pipes", "unix", "tcp"}) {
    for (const Words& mode : modes()) {
      Running program({target("transfers"), kind, "0", "may-be-short"});
      ASSERT_TRUE(program.says("ready\n"));
      for (int i = 0; i < scaled(6); ++i) {
        const TempDir directory;
        Running profiler(
            superprofiler(directory, with(mode, {"-p", std::to_string(program.pid())})));
        ASSERT_TRUE(eventually([&] { return status_of(program.pid(), "TracerPid") != "0"; }));
        const auto ticks = cpu_ticks(program.pid());
        ASSERT_TRUE(eventually([&] { return cpu_ticks(program.pid()) > ticks + 5; }));
        profiler.signal(SIGKILL);
        profiler.wait();
        ASSERT_TRUE(eventually([&] { return status_of(program.pid(), "TracerPid") == "0"; }));
      }
      program.close_input();
      EXPECT_EQ(program.wait().out, "ready\nright\n") << kind << " " << mode.back();
    }
  }
}

}  // namespace
}  // namespace sp::end_to_end
