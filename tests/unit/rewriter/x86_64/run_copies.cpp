#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "unit/rewriter/x86_64/running_copies.h"

namespace sp::rewriter {
namespace {

constexpr std::uint64_t kLargestOffset = std::uint64_t{1} << 30U;

struct Subject {
  const char* name;
  std::uint64_t (*run)(std::uint64_t);
};

std::vector<Subject> subjects_of(const LoadedLibrary& library) {
  std::vector<Subject> found;
  const auto* subject = static_cast<const Subject*>(library.symbol("copy_subjects"));
  for (; subject != nullptr && subject->name != nullptr; ++subject) {
    found.push_back(*subject);
  }
  return found;
}

class CopiesThatRun : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    path_ = std::string(SP_TARGETS_DIR) + "/copy_subjects_" + GetParam() + ".so";
    if (!std::filesystem::exists(path_)) {
      GTEST_SKIP() << path_ << ": its compiler is not installed";
    }
  }

  std::string path_;
};

TEST_P(CopiesThatRun, give_the_results_of_the_original) {
  const LoadedLibrary plain(path_);
  ASSERT_TRUE(plain.is_loaded());
  const auto expected = subjects_of(plain);
  ASSERT_GT(expected.size(), 10U);
  for (const auto& [is_complete, counts_transfers] :
       {std::pair{true, false}, std::pair{false, false}, std::pair{true, true}}) {
    const LoadedLibrary copied(path_);
    const RunningCopies copies(copied, path_, {is_complete, true, counts_transfers});
    EXPECT_EQ(copies.refused(), 0U);
    const auto run = subjects_of(copied);
    for (std::size_t i = 0; i < run.size(); ++i) {
      for (std::uint64_t seed = 0; seed < 40; ++seed) {
        ASSERT_EQ(run[i].run(seed * 7919), expected[i].run(seed * 7919))
            << run[i].name << " " << seed;
      }
    }
  }
}

TEST_P(CopiesThatRun, count_what_single_steps_count) {
  const LoadedLibrary plain(path_);
  const LoadedLibrary copied(path_);
  RunningCopies copies(copied, path_, {true, true, true});
  const auto expected = subjects_of(plain);
  const auto run = subjects_of(copied);
  for (std::size_t i = 0; i < run.size(); ++i) {
    copies.reset_counts();
    std::vector<std::uint64_t> blocks;
    for (const auto& [block, count] : copies.counts()) {
      blocks.push_back(block);
    }
    SteppedCounts stepped(plain, blocks);
    for (std::uint64_t seed = 1; seed < 3; ++seed) {
      (void)run[i].run(seed * 7919);
      stepped.start();
      (void)expected[i].run(seed * 7919);
      stepped.stop();
    }
    const auto counts = copies.counts();
    EXPECT_EQ(counts, stepped.counts()) << run[i].name;
    const WaysTaken ways = copies.ways();
    EXPECT_EQ(ways, stepped.ways(ways)) << run[i].name;
    // The test itself calls, and comes back, from another place.
    const auto within = [](WaysTaken transfers) {
      std::erase_if(transfers, [](const auto& one) { return one.first.second > kLargestOffset; });
      return transfers;
    };
    const WaysTaken transfers = copies.transfers();
    EXPECT_EQ(within(transfers), within(stepped.transfers(transfers))) << run[i].name;
    EXPECT_TRUE(std::any_of(counts.begin(), counts.end(), [](auto& c) { return c.second > 1; }));
  }
}

TEST_P(CopiesThatRun, can_be_left_at_every_instruction) {
  const LoadedLibrary plain(path_);
  const LoadedLibrary copied(path_);
  std::uint64_t moves = 0;
  for (const auto& [counts_transfers, period] :
       {std::pair{false, 3U}, std::pair{false, 10U}, std::pair{true, 5U}}) {
    RunningCopies copies(copied, path_, {true, true, counts_transfers});
    const auto expected = subjects_of(plain);
    const auto run = subjects_of(copied);
    for (std::size_t i = 0; i < run.size(); ++i) {
      const std::uint64_t seed = period * 7919;
      const std::uint64_t want = expected[i].run(seed);
      copies.reset_counts();
      ASSERT_EQ(run[i].run(seed), want);
      const auto counts = copies.counts();
      copies.reset_counts();
      copies.start_leaving(period);
      const std::uint64_t got = run[i].run(seed);
      copies.stop();
      ASSERT_EQ(got, want) << run[i].name;
      EXPECT_EQ(copies.counts(), counts) << run[i].name << " " << period;
      moves += copies.moves();
    }
  }
  EXPECT_GT(moves, 100U);  // in some short functions nobody may be left anywhere
}

INSTANTIATE_TEST_SUITE_P(Builds, CopiesThatRun,
                         testing::Values("gcc_O0", "gcc_O2", "gcc_Os", "clang_O0", "clang_O2",
                                         "clang_Os"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace sp::rewriter
