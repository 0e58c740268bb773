// Where copies have to be given up, or need more than they have, nobody notices, and every count is
// exact.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "arch/native.h"
#include "end_to_end/probe_support.h"

namespace sp::end_to_end {
namespace {

TEST(CopiesOfThreads, count_more_threads_than_there_were_counters_for) {
  if (!arch::Native::kHasCopies) {
    GTEST_SKIP() << "no copies on this CPU";
  }
  // On a slow machine so many take longer to stop than they may, and keep their breakpoints.
  const bool is_slow = patience_factor() > 1;
  const int threads = is_slow ? 70 : 200;
  const int rounds = is_slow ? 200 : 2000;
  const TempDir directory;
  const Profiled counted =
      profile(directory, {"-q", "-a"},
              {target("counted_threads"), std::to_string(threads), std::to_string(rounds)});
  const int ones = threads * rounds;
  EXPECT_EQ(counted.outcome.out, std::to_string(ones) + " " + std::to_string(ones / 2) + "\n")
      << counted.outcome.text();
  EXPECT_EQ(calls_of(counted.files, "count_one"), std::to_string(ones) + " exact");
  EXPECT_EQ(calls_of(counted.files, "count_pair"), std::to_string(ones / 2) + " exact");
  if (!is_slow) {
    EXPECT_LT(counted.files.run().at("probes").at("hits").get<std::uint64_t>(), 100'000U);
  }
}

TEST(CopiesOfThreads, are_given_up_where_there_is_no_room_for_more_counters) {
  const TempDir directory;
  const Profiled counted =
      profile(directory, {"-a"},
              {"sh", "-c",
               "ulimit -s 1024; ulimit -v 1150000; exec " + target("counted_threads") + " 200 50"});
  EXPECT_EQ(counted.outcome.out, "10000 5000\n") << counted.outcome.text();
  EXPECT_EQ(calls_of(counted.files, "count_one"), "10000 exact");
  EXPECT_EQ(calls_of(counted.files, "count_pair"), "5000 exact");
  if (arch::Native::kHasCounterSegment) {  // else all threads share theirs
    EXPECT_NE(counted.outcome.err.find("no longer copied"), std::string::npos)
        << counted.outcome.err;
  }
}

TEST(Copies, leave_a_program_the_memory_that_it_needs) {
  for (const char* kind : {"limit", "lock"}) {
    for (const Words& mode : {Words{}, Words{"-a"}, Words{"--trace", "-a"}}) {
      const TempDir directory;
      const auto run = profile(directory, mode, {target("short_of_memory"), kind});
      EXPECT_EQ(run.outcome.out, "right\n")
          << kind << " " << (mode.empty() ? "" : mode.front()) << run.outcome.text();
      EXPECT_EQ(run.outcome.exit_status(), 0) << kind << " " << (mode.empty() ? "" : mode.front());
    }
  }
}

TEST(Copies, leave_a_program_the_segment_that_it_uses) {
  for (const char* way : {"libc", "syscall"}) {
    for (const Words& mode :
         {Words{}, Words{"-a"}, Words{"--trace", "-a"}, Words{"--single=copies"}}) {
      const TempDir directory;
      const auto run = profile(directory, mode, {target("segment_base"), way});
      EXPECT_EQ(run.outcome.out, "right\n")
          << way << " " << (mode.empty() ? "" : mode.front()) << run.outcome.text();
    }
    const TempDir directory;
    const auto counted = profile(directory, {"-q", "-a"}, {target("segment_base"), way});
    EXPECT_EQ(calls_of(counted.files, "leaf"), "4000 exact") << way;
  }
}

TEST(Copies, leave_the_flags_that_a_function_returns) {
  for (const Words& mode : {Words{"-a"}, Words{"--trace", "-a"}, Words{"--single=copies"}}) {
    const TempDir directory;
    const auto run = profile(directory, mode, {target("returned_flags")});
    EXPECT_EQ(run.outcome.out, "2400 1580 2400 1580\n") << mode.front() << run.outcome.text();
    const auto copies = run.files.run().at("probes").at("copies");
    if (arch::Native::kName == "x86_64" && mode.front() != "--trace") {
      EXPECT_GE(copies.at("executions").get<std::uint64_t>(), 48'000U);
    }
  }
}

TEST(Copies, that_cannot_be_made_are_told_with_the_reason) {
  if (arch::Native::kName != "x86_64") {
    GTEST_SKIP() << "the instructions are x86-64's";
  }
  const TempDir directory;
  const auto run = profile(directory, {"-a"}, {target("not_copied"), "3000"});
  EXPECT_EQ(run.outcome.out, "3000\n") << run.outcome.text();
  for (const char* function : {"has_gs", "has_transaction", "has_neither"}) {
    EXPECT_EQ(calls_of(run.files, function), "3000 exact") << function;
  }
  const auto refused = run.files.run().at("probes").at("copies").at("refused");
  EXPECT_EQ(refused.value("uses the counter segment", 0), 1) << refused;
  EXPECT_EQ(refused.value("an instruction that cannot be moved", 0), 1) << refused;
  EXPECT_NE(run.outcome.err.find("not copied:"), std::string::npos) << run.outcome.err;
}

}  // namespace
}  // namespace sp::end_to_end
