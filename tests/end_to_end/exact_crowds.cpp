// Exact mode with many threads, processes, programs and signals: all are counted, and all survive.
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

class ExactCrowds : public ::testing::Test {
 protected:
  Profiled counted(const Words& program, const Words& more = {}) {
    Words options = {"-q", "--single", "--overwrite"};
    options.insert(options.end(), more.begin(), more.end());
    return profile(directory_, options, program);
  }
  /// A tree of processes of this depth; less on a slow machine.
  Profiled count_fork_tree(int depth, const Words& how) {
    const int levels = patience_factor() > 1 ? 5 : depth;
    const unsigned processes = (1U << static_cast<unsigned>(levels)) - 1;
    Words program = {target("fork_tree"), std::to_string(levels)};
    program.insert(program.end(), how.begin(), how.end());
    auto run = counted(program);
    EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
    EXPECT_EQ(run.outcome.out, std::to_string(processes) + " processes, 0 bad\n");
    EXPECT_EQ(run.files.calls_of("in_each"), 3 * processes);
    return run;
  }

  TempDir directory_;
};

/// Repetitions of a test that fails only sometimes.
int rounds(int otherwise) {
  const char* const wanted = std::getenv("SP_ROUNDS");
  return wanted != nullptr ? std::atoi(wanted) : otherwise;
}

TEST_F(ExactCrowds, of_threads_are_counted_exactly) {
  const auto each = static_cast<unsigned>(2 * scaled(200));
  for (int round = 0; round < rounds(scaled(3)) && !HasFailure(); ++round) {
    const auto run = counted({target("counted_threads"), "8", std::to_string(each)});
    EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
    EXPECT_EQ(run.outcome.out, std::to_string(8 * each) + " " + std::to_string(4 * each) + "\n");
    EXPECT_EQ(run.files.calls_of("count_one"), 8 * each);
    EXPECT_EQ(run.files.calls_of("count_pair"), 4 * each);
    EXPECT_EQ(run.files.calls_of("work"), 8U);
    const auto counts = run.files.run().at("counts");
    EXPECT_EQ(counts.at("consistency").at("disagreeing"), 0) << counts;
    EXPECT_EQ(counts.at("lost_hits"), 0);
  }
}

TEST_F(ExactCrowds, of_forked_children_are_counted_exactly) {
  const auto run = count_fork_tree(10, {});
  EXPECT_EQ(3 * run.files.calls_of("one"), run.files.calls_of("in_each"));
}

TEST_F(ExactCrowds, of_children_that_live_at_once_are_counted_exactly) {
  (void)count_fork_tree(8, {"wait"});
}

TEST_F(ExactCrowds, of_children_that_are_not_followed_live) {
  const auto run = counted({target("fork_tree"), "6"}, {"--follow", "exec"});
  EXPECT_EQ(run.outcome.out, "63 processes, 0 bad\n") << run.outcome.text();
  EXPECT_EQ(run.files.calls_of("in_each"), 3U);
}

TEST_F(ExactCrowds, of_children_without_an_exec_are_counted_where_only_forks_are_followed) {
  const auto run = counted({target("fork_tree"), "6"}, {"--follow", "fork"});
  EXPECT_EQ(run.outcome.out, "63 processes, 0 bad\n") << run.outcome.text();
  EXPECT_EQ(run.files.calls_of("in_each"), 3U * 63U);
}

TEST_F(ExactCrowds, of_programs_in_a_row_are_counted_exactly) {
  // Each link's loader is stepped, too.
  for (const auto& [way, most] : {std::pair{"--single", 6U}, std::pair{"--single=step", 2U}}) {
    const unsigned links = patience_factor() > 1 ? 1 : most;
    const auto run = profile(directory_, {"-q", way, "--overwrite"},
                             {target("exec_chain"), std::to_string(links)});
    EXPECT_EQ(run.outcome.exit_status(), 3) << run.outcome.text();
    EXPECT_EQ(run.outcome.out, "done\n");
    EXPECT_EQ(run.files.calls_of("in_link"), links * (links + 1) / 2);
    EXPECT_EQ(run.files.calls_of("main", "exec_chain"), links + 1);
  }
}

TEST_F(ExactCrowds, of_signals_are_counted_as_their_handlers_count_them) {
  // Signals that arrive faster than they are handled leave no time for anything else.
  const auto run = counted(
      {target("signal_storm"), "4", std::to_string(scaled(300)), std::to_string(spaced(700))});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  std::istringstream printed(run.outcome.out);
  for (const char* function : {"on_own", "on_timer", "on_other", "work_a_little"}) {
    std::uint64_t calls = 0;
    printed >> calls;
    EXPECT_GT(calls, 0U) << run.outcome.out;
    EXPECT_EQ(run.files.calls_of(function), calls) << function;
  }
}

}  // namespace
}  // namespace sp::end_to_end
