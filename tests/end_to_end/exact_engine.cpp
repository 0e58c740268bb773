// Exact mode: counting changes nothing for the target, both methods of counting agree, and the
// target is left as it was, however superprofiler ends.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

class Exact : public ::testing::Test {};

/// The lines of a table without its last three columns (times and source), sorted.
std::vector<std::string> counts_in(const std::string& path) {
  std::istringstream table(read_file(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(table, line);) {
    std::istringstream columns(line);
    std::string kept;
    std::string column;
    for (int i = 0; i < 8 && std::getline(columns, column, '\t'); ++i) {
      kept += column + "\t";
    }
    lines.push_back(kept);
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST_F(Exact, planting_and_stepping_count_the_same) {
  const TempDir planted;
  const TempDir stepped;
  const Words program = {"/bin/true"};
  const Profiled by_planting = profile(planted, {"-q", "--no-aslr", "-s"}, program);
  const Profiled by_steps = profile(stepped, {"-q", "--no-aslr", "--single=step"}, program);
  ASSERT_EQ(by_planting.outcome.exit_status(), 0) << by_planting.outcome.text();
  ASSERT_EQ(by_steps.outcome.exit_status(), 0) << by_steps.outcome.text();
  const auto blocks = counts_in(by_planting.files.directory() + "/blocks.tsv");
  EXPECT_GT(blocks.size(), 500U);
  EXPECT_EQ(blocks, counts_in(by_steps.files.directory() + "/blocks.tsv"));
  EXPECT_EQ(counts_in(by_planting.files.directory() + "/edges.tsv").size(),
            counts_in(by_steps.files.directory() + "/edges.tsv").size());
}

/// Counts the program: its output and status are the same as alone.
void expect_unchanged(const Words& program, const std::string& way = "-s") {
  const TempDir directory;
  const Outcome alone = run(program);
  const Profiled counted = profile(directory, {"-q", way}, program);
  EXPECT_EQ(counted.outcome.wait_status, alone.wait_status) << counted.outcome.text();
  EXPECT_EQ(counted.outcome.out, alone.out);
  EXPECT_EQ(counted.outcome.foreign_lines(), alone.foreign_lines());
}

TEST_F(Exact, threads_are_not_disturbed) { expect_unchanged({target("thread_sums"), "4", "5000"}); }

TEST_F(Exact, flags_are_read_and_written_as_ever) {
  expect_unchanged({target("reads_flags")});
  expect_unchanged({target("reads_flags")}, "--single=step");
}

TEST_F(Exact, handlers_of_the_target_run_as_ever) {
  expect_unchanged({target("own_handlers"), "2", std::to_string(scaled(100'000))});
}

TEST_F(Exact, children_are_followed_without_harm) {
  expect_unchanged({shell(), "-c", "seq 1 20 | sort -r | head -3; exit 3"});
}

TEST_F(Exact, children_that_are_not_followed_are_rid_of_breakpoints) {
  const TempDir directory;
  const Profiled counted = profile(directory, {"-q", "-s", "--follow", "none"},
                                   {shell(), "-c", "(echo child); echo parent"});
  EXPECT_EQ(counted.outcome.exit_status(), 0) << counted.outcome.text();
  EXPECT_EQ(counted.outcome.out, "child\nparent\n");
}

TEST_F(Exact, a_trap_that_the_target_sends_itself_kills_it_as_ever) {
  expect_unchanged({shell(), "-c", "kill -TRAP $$"});
}

TEST_F(Exact, detaching_puts_every_byte_back) {
  Running steady({target("steady"), "2", "1"});
  ASSERT_TRUE(steady.says("ready\n"));
  const std::string caught = status_of(steady.pid(), "SigCgt");
  for (int round = 0; round < scaled(5); ++round) {
    const TempDir directory;
    const Outcome outcome = run(
        superprofiler(directory, {"-q", "-s", "-d", "100ms", "-p", std::to_string(steady.pid())}));
    EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
    EXPECT_EQ(changed_text(steady.pid()), "");
    EXPECT_EQ(status_of(steady.pid(), "SigCgt"), caught);
  }
  steady.close_input();
  EXPECT_EQ(steady.wait().out, "ready\nright\n");
}

TEST_F(Exact, killed_with_breakpoints_planted_leaves_the_target_running) {
  std::minstd_rand random(6);
  Running steady({target("steady"), "2", "1"});
  ASSERT_TRUE(steady.says("ready\n"));
  for (int round = 0; round < scaled(10) && !::testing::Test::HasFailure(); ++round) {
    const TempDir directory;
    Running profiler(superprofiler(directory, {"-q", "-s", "-p", std::to_string(steady.pid())}));
    ASSERT_TRUE(eventually([&] { return !changed_text(steady.pid()).empty(); }));
    ::usleep(static_cast<useconds_t>(random() % 60000));  // a random moment
    profiler.signal(SIGKILL);
    EXPECT_EQ(profiler.wait().signal(), SIGKILL);
    EXPECT_TRUE(eventually([&] { return changed_text(steady.pid()).empty(); }));
    const auto ticks = cpu_ticks(steady.pid());
    EXPECT_TRUE(eventually([&] { return cpu_ticks(steady.pid()) > ticks; })) << "round " << round;
  }
  steady.close_input();
  EXPECT_EQ(steady.wait().out, "ready\nright\n");
}

}  // namespace
}  // namespace sp::end_to_end
