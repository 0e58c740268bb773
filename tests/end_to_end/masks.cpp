// Threads that block SIGTRAP run with it unblocked while breakpoints stand. They do not see that,
// and have their own masks when superprofiler has ended, whatever they do then.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kTrap = 1U << (SIGTRAP - 1);

/// Numbers of threads that block SIGTRAP and should not, or the reverse.
std::string wrong_masks(pid_t pid) {
  std::string wrong;
  int number = -1;  // of the main thread
  for (const pid_t tid : threads_of(pid)) {
    const bool blocks = (std::stoull(status_of(tid, "SigBlk"), nullptr, 16) & kTrap) != 0;
    if (blocks != (number % 2 == 1)) {
      wrong += " " + std::to_string(number);
    }
    ++number;
  }
  return wrong;
}

struct Detached {
  std::string name;
  Words mode;
  std::string rest;  // microseconds
  bool is_stopped = false;
};

class MasksAfterDetaching : public ::testing::TestWithParam<Detached> {};

TEST_P(MasksAfterDetaching, are_the_programs_own) {
  constexpr int kRounds = 3;
  for (int round = 0; round < kRounds; ++round) {
    const TempDir directory;
    Running program({target("looks_at_masks"), GetParam().rest});
    ASSERT_TRUE(program.says("ready"));
    Words options = GetParam().mode;
    options.insert(options.end(), {"-d", "0.5", "-p", std::to_string(program.pid())});
    Running profiler(superprofiler(directory, options));
    if (GetParam().is_stopped) {
      std::this_thread::sleep_for(milliseconds(300));
      ::kill(program.pid(), SIGSTOP);
    }
    EXPECT_EQ(profiler.wait().exit_status(), 0);
    EXPECT_EQ(wrong_masks(program.pid()), "") << "round " << round;
    EXPECT_EQ(changed_text(program.pid()), "");
    ::kill(program.pid(), SIGCONT);
    program.close_input();
    const Outcome outcome = program.wait();
    EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  }
}

/// A SIGSTOP of ours that SIGCONT had discarded kept such a thread from being detached when it was
/// due.
TEST(MasksBesideStops, are_the_programs_own) {
  const TempDir directory;
  Running program({target("looks_at_masks"), "100"});
  ASSERT_TRUE(program.says("ready"));
  Running profiler(
      superprofiler(directory, {"-a", "-d", "2", "-p", std::to_string(program.pid())}));
  std::this_thread::sleep_for(milliseconds(300));
  for (int round = 0; round < 30; ++round) {
    ::kill(program.pid(), SIGSTOP);
    std::this_thread::sleep_for(milliseconds(10));
    ::kill(program.pid(), SIGCONT);
    std::this_thread::sleep_for(milliseconds(20));
  }
  EXPECT_EQ(profiler.wait().exit_status(), 0);
  EXPECT_EQ(wrong_masks(program.pid()), "");
  EXPECT_EQ(changed_text(program.pid()), "");
  program.close_input();
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
}

const std::vector<std::pair<std::string, Words>>& modes() {
  static const std::vector<std::pair<std::string, Words>> all = {
      {"default", {}}, {"all", {"-a"}}, {"single", {"--single"}}, {"trace", {"--trace", "-a"}}};
  return all;
}

/// They are let go in their first stop, which may come before their creator's.
TEST(MasksOfChildren, are_their_creators_where_children_are_not_followed) {
  for (const auto& [name, mode] : modes()) {
    const TempDir directory;
    Running program({target("masks_of_children")});
    ASSERT_TRUE(program.says("ready"));
    Words options = mode;
    options.insert(options.end(), {"-d", "2", "-p", std::to_string(program.pid())});
    EXPECT_EQ(run(superprofiler(directory, options)).exit_status(), 0) << name;
    program.close_input();
    EXPECT_EQ(program.wait().exit_status(), 0) << name << program.out();
  }
}

std::vector<Detached> cases() {
  std::vector<Detached> all;
  for (const auto& [name, mode] : modes()) {
    all.push_back({name + "_busy", mode, "0"});
    all.push_back({name + "_waking", mode, "100"});
    all.push_back({name + "_asleep", mode, "3000000"});
    all.push_back({name + "_stopped", mode, "100", true});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Modes, MasksAfterDetaching, ::testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace sp::end_to_end
