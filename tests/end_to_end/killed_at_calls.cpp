// SIGKILL of superprofiler between any two of its calls, which random times miss: a library that is
// preloaded into it counts them. tests/stress/kill_points.py does it more often and to a shell.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

struct Mode {
  std::string name;
  Words options;
};

class KilledAtCalls : public ::testing::TestWithParam<Mode> {
 protected:
  /// Runs the program, with superprofiler killed right before that call of its.
  [[nodiscard]] Running start(const TempDir& directory, long call) const {
    Words options = GetParam().options;
    options.insert(options.begin(), {"-q", "--overwrite"});
    StartOptions how;
    how.environment = {"LD_PRELOAD=" + target("libkills_at_call.so"),
                       "KILL_AT=" + std::to_string(call), "KILL_REPORT=" + report(directory),
                       "ASAN_OPTIONS=verify_asan_link_order=0"};
    const Words program{target("kill_ways"), std::to_string(scaled(20))};
    return Running(superprofiler(directory, options, program), how);
  }
  [[nodiscard]] static std::string report(const TempDir& directory) {
    return directory.path() + "/calls";
  }
  /// Waits for everything that was started, and says what has died of it.
  [[nodiscard]] static std::string await_all() {
    std::string died;
    const bool have_ended = eventually([&] {
      int status = 0;
      pid_t pid = 0;
      while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
        if (WIFSIGNALED(status)) {
          died += " " + std::to_string(pid) + " of signal " + std::to_string(WTERMSIG(status));
        }
      }
      return pid < 0;
    });
    return have_ended ? died : died + " and something runs on";
  }
};

TEST_P(KilledAtCalls, the_program_ends_as_if_alone) {
  const TempDir directory;
  Running whole = start(directory, 0);
  const Outcome alone = whole.wait();
  ASSERT_EQ(alone.out.substr(0, 6), "right:") << alone.text();
  const std::string said = read_file(report(directory));
  ASSERT_FALSE(said.empty());
  const double calls = std::stod(said);
  ASSERT_GT(calls, 100);

  std::random_device seed;
  std::uniform_real_distribution<double> exponent(std::log(20), std::log(calls));
  for (int round = 0; round < scaled(12) && !HasFailure(); ++round) {
    const auto at = std::lround(std::exp(exponent(seed)));
    Running profiler = start(directory, at);
    const Outcome outcome = profiler.wait();
    const std::string died = await_all();
    EXPECT_EQ(died, "") << "killed before call " << at;
    EXPECT_TRUE(outcome.out.starts_with("right:") || profiler.out().starts_with("right:") ||
                at < 100)
        << "killed before call " << at << ": " << profiler.out() << profiler.err();
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, KilledAtCalls,
                         ::testing::Values(Mode{"default", {}}, Mode{"all_kept", {"-a"}},
                                           Mode{"exact", {"--single"}},
                                           Mode{"traced", {"--trace", "-a"}}),
                         [](const auto& mode) { return mode.param.name; });

}  // namespace
}  // namespace sp::end_to_end
