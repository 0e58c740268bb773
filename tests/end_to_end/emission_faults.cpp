// --tree --emit while calls of superprofiler's own fail, one each time, as the kernel lets them
// fail: the program neither ends nor says anything else than alone, and what is said of the run is
// true. Preloaded into superprofiler is tests/targets/libraries/fails_at_call.c.
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "end_to_end/fault_support.h"

namespace sp::end_to_end {
namespace {

struct FaultWay {
  std::string name;
  Fault fault;
  std::vector<int> launched;  // which call fails, each in a run of its own
  std::vector<int> attached;
};

void PrintTo(const FaultWay& way, std::ostream* out) { *out << way.name; }

class FailingCall : public ::testing::TestWithParam<FaultWay> {
 protected:
  static Words emitting(const PatientReader& reader) {
    return {"--tree", "-a", "--emit", reader.address(), "--emit-every", "50ms"};
  }
  /// Runs a program, for half a minute at most.
  static Outcome launch(const TempDir& directory, const Words& options, const Words& program,
                        const StartOptions& how) {
    StartOptions start = how;
    start.input = "";
    Running running(superprofiler(directory, options, program), start);
    return running.wait(std::chrono::seconds(lengthened(30)));
  }
};

/// kill_ways: how often twice() was called, by the line that it has printed:
/// "right: 1 of 1 children, sums 640 and 640, 24".
std::uint64_t calls_of_twice(const std::string& line, std::uint64_t rounds) {
  constexpr std::uint64_t kTree2 = 6;  // calls below tree(2)
  constexpr std::uint64_t kTree6 = 126;
  constexpr std::uint64_t kTree7 = 254;
  constexpr std::uint64_t kTwoToThe2 = 4;
  const std::uint64_t handled = std::stoull(line.substr(line.rfind(' ') + 1)) / kTwoToThe2;
  const std::uint64_t children = std::stoull(line.substr(line.find(' ') + 1));
  return 2 * rounds * kTree6 + children * kTree7 + handled * kTree2;
}

TEST_P(FailingCall, leaves_a_launched_program_and_what_is_said_right) {
  if (!has_program("python3")) {
    GTEST_SKIP() << "needs python3";
  }
  constexpr int kRounds = 10;
  const FaultWay& way = GetParam();
  if (way.launched.empty()) {
    GTEST_SKIP() << "an attached program shows it";
  }
  for (const int call : way.launched) {
    const TempDir directory;
    PatientReader reader(directory);
    const Words program{target("kill_ways"), std::to_string(kRounds)};
    const Outcome outcome =
        launch(directory, emitting(reader), program, failing(directory, way.fault, call));
    ASSERT_TRUE(outcome.wait_status.has_value()) << call << " hangs " << outcome.text();
    expect_failed(directory, call);
    if (outcome.exit_status() == 125) {
      EXPECT_EQ(outcome.out, "") << "refused, so that nothing may have run";
      EXPECT_EQ(outcome.own_lines(), outcome.err);
      continue;
    }
    EXPECT_EQ(outcome.exit_status(), 0) << call << outcome.text();
    ASSERT_EQ(outcome.out.substr(0, 6), "right:") << call << outcome.text();
    expect_truth(reader, outcome, RunFiles(directory / "run"));
    const auto tree = tree_of(RunFiles(directory / "run"));
    const auto unfollowed =
        number_of(RunFiles(directory / "run").run()["losses"], "unfollowed_processes");
    if (tree["calls"]["kind"] == "exact" && number_of(tree["calls"], "lost_events") == 0 &&
        unfollowed == 0) {
      EXPECT_EQ(calls_in(tree["tree"], "twice"), calls_of_twice(outcome.out, kRounds))
          << call << outcome.text();
    }
  }
}

TEST_P(FailingCall, leaves_an_attached_program_as_it_was) {
  if (!has_program("python3")) {
    GTEST_SKIP() << "needs python3";
  }
  const FaultWay& way = GetParam();
  if (way.attached.empty()) {
    GTEST_SKIP() << "a launched program shows it";
  }
  for (const int call : way.attached) {
    const TempDir directory;
    PatientReader reader(directory);
    Running program({target("switched_calls"), "2"});
    ASSERT_TRUE(program.says("ready"));
    Words options = emitting(reader);
    options.insert(options.end(), {"-d", "0.3", "-p", std::to_string(program.pid())});
    const Outcome outcome =
        run(superprofiler(directory, options), failing(directory, way.fault, call));
    expect_failed(directory, call);
    EXPECT_EQ(what_was_left_behind(program.pid()), "") << call << outcome.text();
    EXPECT_EQ(changed_text(program.pid()), "") << call << outcome.text();
    program.close_input();
    const Outcome ended = program.wait();
    EXPECT_EQ(ended.exit_status(), 0) << call << ended.text();
    EXPECT_EQ(ended.out, "ready\nright\n") << call << outcome.text();
    if (outcome.exit_status() != 125) {
      EXPECT_EQ(outcome.exit_status(), 0) << call << outcome.text();
      expect_truth(reader, outcome, RunFiles(directory / "run"));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Each, FailingCall,
    testing::Values(
        FaultWay{"reader_hung_up", {"send", EPIPE}, {1, 3}, {1, 3}},
        FaultWay{"reader_reset", {"send", ECONNRESET}, {2}, {2}},
        FaultWay{"reader_is_slow", {"send", EAGAIN}, {1, 2}, {1, 2}},
        FaultWay{"reader_reset_while_read", {"recv", ECONNRESET}, {1, 3}, {1, 3}},
        FaultWay{"nobody_listens", {"connect", ECONNREFUSED}, {1}, {1}},
        FaultWay{"no_socket", {"socket", EMFILE}, {1}, {1}},
        FaultWay{"no_process", {"fork", EAGAIN}, {1, 2}, {1}},
        FaultWay{"guardian_hung_up", {"sendmsg", EPIPE}, {1, 3}, {1, 3}},
        FaultWay{"guardian_is_slow", {"sendmsg", ENOBUFS}, {2}, {2}},
        FaultWay{"no_room_for_counters", {"ftruncate", ENOSPC}, {1, 2}, {1, 2}},
        FaultWay{"no_memory_for_counters", {"mmap", ENOMEM, "memfd"}, {1, 2}, {1, 2}},
        FaultWay{"no_memory_of_the_thread", {"process_vm_readv", EFAULT}, {2, 9}, {2, 9}},
        FaultWay{"no_descriptor_of_a_child", {"open", EMFILE, "/mem"}, {1, 2, 20, 21, 22}, {1, 2}},
        FaultWay{"no_file_in_run", {"openat", EMFILE}, {1, 2}, {1, 2}},
        FaultWay{"disk_is_full", {"pwrite", ENOSPC, "recording"}, {1, 2}, {1, 2}},
        FaultWay{"metrics_are_refused", {"read", EACCES, "/io"}, {}, {1}},
        FaultWay{"process_ends_meanwhile", {"read", ESRCH, "/io"}, {}, {1}}),
    [](const auto& way) { return way.param.name; });

}  // namespace
}  // namespace sp::end_to_end
