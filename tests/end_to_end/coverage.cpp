// --coverage: what is reached is what --single and gcov say, at one stop a block.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "end_to_end/coverage_support.h"

namespace sp::end_to_end {
namespace {

/// The ranges of a module that a run with --single has executed.
std::map<std::uint64_t, std::uint64_t> executed(const std::string& blocks_tsv,
                                                const std::string& module) {
  std::map<std::uint64_t, std::uint64_t> ranges;
  std::istringstream in(read_file(blocks_tsv));
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    const auto cells = cells_of(line);
    // Not the linker's stubs: "f@plt", and what has no name.
    if (cells.size() > 7 && cells[0] == module && cells[3].find("@plt") == std::string::npos &&
        cells[3].find("+0x") == std::string::npos) {
      const std::uint64_t begin = std::stoull(cells[1], nullptr, 16);
      ranges[begin] = std::max<std::uint64_t>(ranges[begin], begin + std::stoull(cells[5]));
    }
  }
  return ranges;
}

void expect_as_single(const Words& program, const Words& options) {
  const TempDir covered;
  const TempDir single;
  Words words{"--coverage"};
  words.insert(words.end(), options.begin(), options.end());
  const auto run = profile(covered, words, program);
  const auto exact = profile(single, {"--single"}, program);
  ASSERT_EQ(run.outcome.wait_status, exact.outcome.wait_status) << run.outcome.text();
  EXPECT_EQ(run.outcome.out, exact.outcome.out);
  const auto ranges = executed(single / "run/blocks.tsv", program[0]);
  const auto blocks = covered_blocks(covered / "run/coverage.tsv");
  ASSERT_GT(reached(blocks), 10U) << run.outcome.text();
  for (const CoveredBlock& block : blocks) {
    auto above = ranges.upper_bound(block.offset);
    const bool ran = above != ranges.begin() && block.offset < std::prev(above)->second;
    EXPECT_EQ(block.covered, ran) << block.function << " " << std::hex << block.offset;
  }
  for (const auto& [begin, end] : ranges) {
    const bool known = std::any_of(blocks.begin(), blocks.end(), [&](const CoveredBlock& block) {
      return block.covered && block.offset <= begin && begin < block.offset + block.size;
    });
    EXPECT_TRUE(known) << "not seen: " << std::hex << begin;
  }
}

TEST(Coverage, is_what_single_steps_see) {
  expect_as_single({target("covered_ways"), "x", "50"}, {});
  expect_as_single({target("switches")}, {});
  expect_as_single({target("code_ways")}, {});
  expect_as_single({target("unbounded_switch")}, {});
  expect_as_single({target("cold_ways")}, {});
}

TEST(Coverage, is_what_single_steps_see_when_attached_from_the_start_and_in_children) {
  expect_as_single({target("fork_tree"), "2"}, {"--follow", "all"});
  expect_as_single({target("exec_chain")}, {});
}

TEST(Coverage, stops_once_for_each_block) {
  const TempDir directory;
  const auto run = profile(directory, {"--coverage"}, {target("covered_ways"), "x", "3000000"});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  const auto blocks = covered_blocks(directory / "run/coverage.tsv");
  // Threads and the forked child may come to a block at the same time.
  const auto hits = run.files.run().at("probes").at("hits").get<std::uint64_t>();
  EXPECT_GE(hits, reached(blocks));
  EXPECT_LE(hits, reached(blocks) + 20);
  EXPECT_FALSE(is_entered(blocks, "Dot::area"));
  EXPECT_TRUE(is_entered(blocks, "in_child"));
  EXPECT_TRUE(is_entered(blocks, "in_thread"));
}

TEST(Coverage, of_functions_stops_once_for_each) {
  const TempDir directory;
  const auto run = profile(directory, {"--coverage=function"}, {target("covered_ways"), "x"});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  const auto blocks = covered_blocks(directory / "run/coverage.tsv");
  std::set<std::uint64_t> offsets;
  for (const CoveredBlock& block : blocks) {
    EXPECT_TRUE(offsets.insert(block.offset).second) << block.function;
  }
  EXPECT_TRUE(is_entered(blocks, "in_child"));
  EXPECT_FALSE(is_entered(blocks, "Square::area() const [clone"));
  EXPECT_LE(run.files.run().at("probes").at("hits").get<std::uint64_t>(), reached(blocks) + 5);
  // Nothing is said of lines but those with a function's name.
  EXPECT_NE(run.outcome.err.find("--coverage=block"), std::string::npos) << run.outcome.err;
  EXPECT_FALSE(run.files.run().at("coverage").contains("lines"));
  const std::string lcov = read_file(directory / "run/coverage.info");
  EXPECT_NE(lcov.find("in_child"), std::string::npos);
  std::set<std::string> named;
  std::istringstream in(lcov);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("FN:")) {
      named.insert(line.substr(3, line.find(',') - 3));
    } else if (line.starts_with("DA:")) {
      EXPECT_TRUE(named.contains(line.substr(3, line.find(',') - 3))) << line;
    }
  }
  EXPECT_GT(named.size(), 5U);
}

/// A program that handles SIGTRAP itself gets its breakpoints taken away.
TEST(Coverage, says_what_was_not_watched_to_the_end) {
  const TempDir directory;
  const auto run = profile(directory, {"--coverage"}, {target("own_handlers")});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  std::set<std::string> kinds;
  for (const CoveredBlock& block : covered_blocks(directory / "run/coverage.tsv")) {
    if (!block.covered) {
      kinds.insert(block.kind);
    }
  }
  const std::string kind = run.files.run().at("coverage").at("kind");
  EXPECT_TRUE(kind.starts_with("exact-until:") && kinds.contains(kind)) << kind;
  EXPECT_NE(run.outcome.err.find('(' + kind + ')'), std::string::npos) << run.outcome.err;
}

TEST(Coverage, a_second_run_stops_nowhere) {
  const TempDir directory;
  const Words program{target("covered_ways"), "x"};
  const auto first = profile(directory, {"--coverage"}, program);
  ASSERT_EQ(first.outcome.exit_status(), 0) << first.outcome.text();
  const TempDir again;
  const auto second =
      profile(again, {"--coverage", "--coverage-known", directory / "run"}, program);
  ASSERT_EQ(second.outcome.exit_status(), 0) << second.outcome.text();
  EXPECT_EQ(second.files.run().at("probes").at("hits"), 0U);
  const auto before = covered_blocks(directory / "run/coverage.tsv");
  const auto after = covered_blocks(again / "run/coverage.tsv");
  EXPECT_EQ(reached(before), reached(after));
  for (const CoveredBlock& block : after) {
    EXPECT_EQ(block.kind, block.covered ? "known" : "exact") << block.function;
  }
  // What the first has not reached is found.
  const TempDir more;
  const auto third =
      profile(more, {"--coverage", "--coverage-known", directory / "run/coverage.tsv"},
              {target("covered_ways"), "x", "9", "y"});
  EXPECT_TRUE(is_entered(covered_blocks(more / "run/coverage.tsv"), "Dot::area"));
  EXPECT_GT(third.files.run().at("probes").at("hits"), 0U);
}

TEST(Coverage, attaches_and_leaves_nothing) {
  Running server({target("steady")});
  ASSERT_TRUE(server.says("ready"));
  const TempDir directory;
  const Outcome attached =
      run(superprofiler(directory, {"--coverage", "-d", "1s", "-p", std::to_string(server.pid())}));
  EXPECT_EQ(attached.exit_status(), 0) << attached.text();
  EXPECT_EQ(what_was_left_behind(server.pid()), "");
  EXPECT_EQ(changed_text(server.pid()), "");
  const auto blocks = covered_blocks(directory / "run/coverage.tsv");
  EXPECT_GT(reached(blocks), 0U) << attached.text();
  for (const CoveredBlock& block : blocks) {
    EXPECT_TRUE(block.kind == "exact" || block.kind.starts_with("exact-since:")) << block.kind;
  }
}

TEST(Coverage, has_what_threads_reach_in_functions_that_they_were_in_at_the_attach) {
  Running server({target("cold_ways"), "serve"});
  ASSERT_TRUE(server.says("ready"));
  const TempDir directory;
  const Outcome attached =
      run(superprofiler(directory, {"--coverage", "-d", "1s", "-p", std::to_string(server.pid())}));
  EXPECT_EQ(attached.exit_status(), 0) << attached.text();
  const auto blocks = covered_blocks(directory / "run/coverage.tsv");
  EXPECT_TRUE(is_entered(blocks, "serve")) << attached.text();
  server.close_input();
  EXPECT_EQ(server.wait().exit_status(), 0);
}

TEST(Coverage, killed_at_any_moment_leaves_the_program_running) {
  std::minstd_rand random(6);
  for (int round = 0; round < scaled(12) && !::testing::Test::HasFailure(); ++round) {
    const TempDir directory;
    Running profiler(superprofiler(directory, {"-q", "--coverage"}, {target("steady"), "3", "2"}));
    ASSERT_TRUE(eventually([&] { return launched_by(profiler.pid()) > 0; }));
    const pid_t launched = launched_by(profiler.pid());
    // Not before the program has begun.
    ASSERT_TRUE(eventually([&] { return status_of(launched, "Name") == "steady"; }));
    ::usleep(static_cast<useconds_t>(random() % 80'000));
    profiler.signal(SIGKILL);
    ASSERT_TRUE(profiler.wait().wait_status);
    ASSERT_TRUE(profiler.says("ready\n")) << "round " << round;
    profiler.close_input();
    int status = -1;
    EXPECT_TRUE(eventually([&] { return ::waitpid(launched, &status, WNOHANG) == launched; }));
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "round " << round;
    EXPECT_EQ(profiler.out(), "ready\nright\n") << "round " << round;
  }
}

TEST(Coverage, finds_what_threads_and_children_of_a_shell_reach) {
  // The same blocks in thirty children: only the first of them stop there.
  const TempDir directory;
  const auto loop = profile(directory, {"--coverage"},
                            {"/bin/sh", "-c",
                             "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do "
                             "x=$(echo $i); (exit 3); done; echo $x $?"});
  EXPECT_EQ(loop.outcome.out, "15 3\n") << loop.outcome.text();
  const auto blocks = covered_blocks(directory / "run/coverage.tsv");
  const auto hits = loop.files.run().at("probes").at("hits").get<std::uint64_t>();
  EXPECT_GT(reached(blocks), 100U);
  EXPECT_LE(hits, reached(blocks) + 100) << "each child stops where others have been";
}

TEST(Coverage, has_libraries_that_are_named) {
  const TempDir directory;
  const auto run_of =
      profile(directory,
              {"--coverage", "--only-instrument-execs", "libc.so.6", "--only-instrument-execs",
               "ld-linux-x86-64.so.2", "--only-instrument-execs", "ld-linux-aarch64.so.1"},
              {target("covered_ways"), "x"});
  ASSERT_EQ(run_of.outcome.exit_status(), 0) << run_of.outcome.text();
  std::set<std::string> modules;
  for (const CoveredBlock& block : covered_blocks(directory / "run/coverage.tsv")) {
    if (block.covered) {
      modules.insert(block.module.substr(block.module.rfind('/') + 1));
    }
  }
  EXPECT_TRUE(modules.contains("libc.so.6"));
  EXPECT_EQ(modules.size(), 2U);
}

TEST(Coverage, of_code_that_the_program_writes_over_does_not_say_never) {
  for (const Words& way : {Words{}, Words{"back"}}) {
    for (const char* what : {"--coverage", "--coverage=function"}) {
      const TempDir directory;
      Words program{target("writes_same_code")};
      program.insert(program.end(), way.begin(), way.end());
      const auto run = profile(directory, {what}, program);
      ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
      const auto blocks = covered_blocks(directory / "run/coverage.tsv");
      EXPECT_TRUE(is_entered(blocks, "later"));
      for (const CoveredBlock& block : blocks) {
        if (block.function == "target" && !block.covered) {
          EXPECT_NE(block.kind, "exact") << what << (way.empty() ? "" : " back");
        }
      }
    }
  }
}

TEST(Coverage, tells_what_is_wrong) {
  const TempDir directory;
  const Outcome none = run(superprofiler(directory, {"--coverage", "--coverage-known", "/nowhere"},
                                         {target("known_counts"), "1"}));
  EXPECT_EQ(none.exit_status(), 125);
  EXPECT_NE(none.err.find("--coverage-known: "), std::string::npos) << none.err;
  EXPECT_EQ(none.out, "");  // nothing was started
  write_file(directory / "bad.tsv", "module\tbuild_id\n");
  const Outcome bad = run({SP_PROGRAM, "coverage", directory / "bad.tsv"});
  EXPECT_EQ(bad.exit_status(), 125);
  EXPECT_EQ(std::count(bad.err.begin(), bad.err.end(), '\n'), 1) << bad.err;
}

TEST(Coverage, says_that_what_is_known_is_of_another_build) {
  const TempDir directory;
  const auto first = profile(directory, {"--coverage"}, {target("known_counts"), "1"});
  ASSERT_EQ(first.outcome.exit_status(), 0) << first.outcome.text();
  const TempDir again;
  const auto second =
      profile(again, {"--coverage", "--coverage-known", directory / "run"}, {target("recursion")});
  EXPECT_EQ(second.outcome.exit_status(), 0) << second.outcome.text();
  EXPECT_NE(second.outcome.err.find("--coverage-known: " + (directory / "run") +
                                    " knows none of this run's files"),
            std::string::npos)
      << second.outcome.err;
}

}  // namespace
}  // namespace sp::end_to_end
