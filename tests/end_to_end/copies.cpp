// Programs that do what is hard to survive for code that is counted where it runs, and still harder
// for code that runs from a copy: each says and does what it does alone, and with -a the calls of
// its functions are those that are known beforehand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "arch/native.h"
#include "end_to_end/probe_support.h"

namespace sp::end_to_end {
namespace {

struct Hard {
  std::string name;
  Words program;  // of tests/targets, with the arguments
  std::string counted;
  std::uint64_t calls;
};

void PrintTo(const Hard& hard, std::ostream* out) { *out << hard.name; }

Hard way(const std::string& name, int rounds, int calls_a_round = 1) {
  const int scaled_rounds = std::max(scaled(rounds), 2);
  return {name,
          {"copy_ways", name, std::to_string(scaled_rounds), std::to_string(spaced(2000))},
          "each_round",
          static_cast<std::uint64_t>(scaled_rounds) * static_cast<unsigned>(calls_a_round)};
}

std::vector<Hard> all_hard() {
  const int throws = scaled(20);
  const int ones = scaled(20);
  return {way("switches", 60),
          way("tails", 400),
          way("recursion", 2),
          way("backtraces", 20, 11),
          way("handlers", 60),
          way("faults", 30),
          way("longjmps", 20),
          way("coroutines", 40, 4),
          way("forks", 20),
          way("cancels", 5),
          way("small-stacks", 20),
          {"throws",
           {"copy_throws", "4", std::to_string(throws)},
           "each_throw",
           static_cast<std::uint64_t>(throws) * 4},
          {"threads",
           {"counted_threads", "32", std::to_string(ones)},
           "count_one",
           static_cast<std::uint64_t>(ones) * 32}};
}

class Copies : public ::testing::TestWithParam<Hard> {
 protected:
  /// Runs it alone and with `options`; returns the files of the second run.
  RunFiles expect_the_same(const Words& options) {
    Words program = GetParam().program;
    program.front() = target(program.front());
    const Outcome alone = run(program);
    EXPECT_EQ(alone.exit_status(), 0) << alone.text();
    const Profiled counted = profile(directory_, options, program);
    EXPECT_EQ(counted.outcome.wait_status, alone.wait_status) << counted.outcome.text();
    EXPECT_EQ(counted.outcome.out, alone.out);
    EXPECT_EQ(counted.outcome.foreign_lines(), alone.foreign_lines());
    return counted.files;
  }

  TempDir directory_;
};

TEST_P(Copies, by_default_the_program_does_as_alone) { expect_the_same({"-q"}); }

TEST_P(Copies, with_a_every_call_is_counted_and_the_program_does_as_alone) {
  const RunFiles files = expect_the_same({"-q", "-a"});
  EXPECT_EQ(calls_of(files, GetParam().counted), std::to_string(GetParam().calls) + " exact");
}

INSTANTIATE_TEST_SUITE_P(Each, Copies, ::testing::ValuesIn(all_hard()), [](const auto& hard) {
  std::string name = hard.param.name;
  for (char& letter : name) {
    letter = letter == '-' ? '_' : letter;
  }
  return name;
});

TEST(Faults, say_where_they_come_from_while_superprofiler_comes_and_goes) {
  Running faults({target("copy_ways"), "faults", "1000000000"});
  for (int round = 0; round < scaled(8); ++round) {
    const TempDir directory;
    const Outcome outcome =
        run(superprofiler(directory, {"-q", "-d", "200ms", "-p", std::to_string(faults.pid())}));
    EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  }
  EXPECT_FALSE(faults.ended());
  EXPECT_EQ(faults.err(), "");
}

/// "HITS KIND" of the blocks, in the order of their addresses.
[[maybe_unused]] Words blocks_in(const RunFiles& files, const std::string& function) {
  std::map<std::uint64_t, std::string> by_offset;
  for (const BlockRow& block : all_blocks(files)) {
    if (block.function == function) {
      by_offset[block.offset] = std::to_string(block.hits) + " " + block.kind;
    }
  }
  Words blocks;
  for (const auto& [offset, counts] : by_offset) {
    blocks.push_back(counts);
  }
  return blocks;
}

class SkippedLock : public ::testing::TestWithParam<Words> {};

TEST_P(SkippedLock, is_counted_on_both_ways) {
#if defined(__x86_64__)
  const TempDir directory;
  Words options = GetParam();
  options.insert(options.begin(), "-q");
  const Profiled counted = profile(directory, options, {target("skipped_lock"), "5000"});
  EXPECT_EQ(counted.outcome.out, "5000\n");
  EXPECT_EQ(blocks_in(counted.files, "add_one"),
            (Words{"5000 exact", "500 exact", "4500 exact", "5000 exact"}));
#else
  GTEST_SKIP() << "no lock prefixes on this CPU";
#endif
}

INSTANTIATE_TEST_SUITE_P(By, SkippedLock,
                         ::testing::Values(Words{"-a"}, Words{"-a", "--no-copies"},
                                           Words{"--single=copies"}));

TEST(CopiesOfLoops, tell_calls_from_jumps_to_the_start_of_the_function) {
  if (!arch::Native::kHasCopies) {
    GTEST_SKIP() << "no copies on this CPU";
  }
  const TempDir directory;
  const Profiled counted = profile(directory, {"-q", "-a"}, {target("loops_at_entry")});
  EXPECT_EQ(counted.outcome.out, "done\n");
  EXPECT_EQ(most_hits_in(counted.files, "count_down"), 1'040U);
  EXPECT_EQ(calls_of(counted.files, "count_down"), "41 exact");
  EXPECT_EQ(calls_of(counted.files, "main"), "1 exact");
}

TEST(CopiesOfParts, are_entered_without_a_breakpoint) {
  if (!arch::Native::kHasCopies) {
    GTEST_SKIP() << "no copies on this CPU";
  }
  const TempDir directory;
  const Profiled counted = profile(directory, {"-q", "-a"}, {target("jumped_to")});
  EXPECT_EQ(counted.outcome.exit_status(), 0);
  EXPECT_EQ(calls_of(counted.files, "last_of"), "100000 exact");
  EXPECT_EQ(calls_of(counted.files, "read_last"), "100000 exact");
  const auto run = counted.files.run();
  EXPECT_GE(run.at("probes").at("copies").at("executions").get<std::uint64_t>(), 900'000U);
  EXPECT_LT(run.at("cost").at("stops").get<std::uint64_t>(), 20'000U);
}

/// Of the blocks of each_round().
std::multiset<std::uint64_t> hits_of_a_round(const RunFiles& files, const std::string& program) {
  std::multiset<std::uint64_t> hits;
  for (const BlockRow& block : blocks_of(files, program)) {
    if (block.function == "each_round") {
      hits.insert(block.hits);
    }
  }
  return hits;
}

TEST(CopiesOfSwitches, count_blocks_that_only_a_jump_shows_once_the_function_is_hot) {
  const TempDir directory;
  const Profiled counted = profile(directory, {"-q", "-a"}, {target("hidden_case"), "5000"});
  EXPECT_EQ(counted.outcome.exit_status(), 0) << counted.outcome.text();
  EXPECT_EQ(hits_of_a_round(counted.files, "hidden_case"),
            (std::multiset<std::uint64_t>{500, 4500, 5000}));
}

TEST(CopiesOfSwitches, are_made_though_no_check_shows_where_their_tables_end) {
  if (!arch::Native::kHasCopies) {
    GTEST_SKIP() << "no copies on this CPU";
  }
  constexpr std::uint64_t kRounds = 50'000;
  std::map<std::uint64_t, std::uint64_t> cases;
  for (std::uint64_t i = 0; i < kRounds; ++i) {
    ++cases[i % 50 == 49 ? 3 + i % 100 / 50 * 3 : i % 3];
  }
  const TempDir directory;
  const Words program{target("unbounded_switch"), std::to_string(kRounds)};
  const Profiled counted = profile(directory, {"-q", "-a"}, program);
  EXPECT_EQ(counted.outcome.out, run(program).out) << counted.outcome.text();
  EXPECT_EQ(calls_of(counted.files, "each_round"), std::to_string(kRounds) + " exact");
  EXPECT_EQ(calls_of(counted.files, "rarely"), std::to_string(cases[3] + cases[6]) + " exact");
  if (arch::Native::kName == "x86_64") {  // else gcc makes comparisons of the switch
    EXPECT_EQ(hits_of_a_round(counted.files, "unbounded_switch"),
              (std::multiset<std::uint64_t>{kRounds, cases[0], cases[1], cases[2]}));
  }
  const auto facts = counted.files.run();
  EXPECT_EQ(facts.at("probes").at("copies").at("refused").size(), 0U);
  EXPECT_LT(facts.at("cost").at("stops").get<std::uint64_t>(), kRounds / 5);
}

TEST(CopiesOfCode, leave_instructions_whole_that_data_seems_to_jump_into) {
  if (!arch::Native::kHasCopies) {
    GTEST_SKIP() << "no copies on this CPU";
  }
  const TempDir directory;
  const Profiled counted = profile(directory, {"-q", "-a"}, {target("data_in_code")});
  EXPECT_EQ(counted.outcome.out, "12516800\n") << counted.outcome.text();
  EXPECT_EQ(hits_of_a_round(counted.files, "data_in_code"),
            (std::multiset<std::uint64_t>{100, 100, 4900, 5000}));
}

TEST(CopiesOfCode, are_made_though_data_seems_to_point_into_the_middle_of_it) {
  if (!arch::Native::kHasCopies) {
    GTEST_SKIP() << "no copies on this CPU";
  }
  const TempDir directory;
  const Profiled counted = profile(directory, {"-q", "-a"}, {target("doubtful_pointer")});
  EXPECT_EQ(counted.outcome.exit_status(), 0) << counted.outcome.text();
  EXPECT_EQ(hits_of_a_round(counted.files, "doubtful_pointer"),
            (std::multiset<std::uint64_t>{1'000, 14'500, 14'500, 30'000}));
  const auto copies = counted.files.run().at("probes").at("copies");
  EXPECT_GE(copies.at("executions").get<std::uint64_t>(), 100'000U);
}

TEST(CopiesOfThreads, count_each_call_though_threads_stand_at_calls_when_they_are_made) {
  if (!arch::Native::kHasCopies) {
    GTEST_SKIP() << "no copies on this CPU";
  }
  for (int round = 0; round < scaled(8); ++round) {
    const TempDir directory;
    const Profiled counted =
        profile(directory, {"-q", "-a"}, {target("counted_threads"), "32", "2000"});
    EXPECT_EQ(counted.outcome.out, "64000 32000\n") << counted.outcome.text();
    EXPECT_EQ(calls_of(counted.files, "count_one"), "64000 exact");
    EXPECT_EQ(calls_of(counted.files, "count_pair"), "32000 exact");
    EXPECT_EQ(calls_of(counted.files, "work"), "32 exact");
  }
}

TEST(CopiesOfThreads, count_each_turn_of_a_loop_of_32_threads) {
  const int turns = scaled(100);
  const TempDir directory;
  const Profiled counted =
      profile(directory, {"-q", "-a"}, {target("thread_sums"), "32", std::to_string(turns)});
  EXPECT_EQ(counted.outcome.exit_status(), 0) << counted.outcome.text();
  EXPECT_EQ(counted.outcome.out, "right\n");
  EXPECT_EQ(most_hits_in(counted.files, "add"), static_cast<std::uint64_t>(turns) * 32);
  for (const BlockRow& block : blocks_of(counted.files, "thread_sums")) {
    EXPECT_EQ(block.kind, "exact") << block.function;
  }
}

}  // namespace
}  // namespace sp::end_to_end
