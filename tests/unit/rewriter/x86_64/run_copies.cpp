#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <tuple>
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
    EXPECT_EQ(copies.tables() > 0, path_.find("gcc_O0") == std::string::npos);
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

TEST_P(CopiesThatRun, write_an_event_of_each_place_that_control_comes_to) {
  const LoadedLibrary library(path_);
  RunningCopies copies(library, path_, {true, true, false, true});
  EXPECT_EQ(copies.refused(), 0U);
  std::map<std::uint64_t, std::uint64_t> block_of;  // by place
  for (const core::FunctionCopy& copy : copies.copies()) {
    for (const core::CopiedBlock& block : copy.blocks) {
      if (block.event_at != core::Address{}) {
        block_of[block.event_at.value() - library.bias()] = block.start.value() - library.bias();
      }
    }
  }
  std::uint64_t returns_right = 0;
  for (const Subject& subject : subjects_of(library)) {
    copies.reset_counts();
    (void)subject.run(7919);
    std::map<std::uint64_t, std::uint64_t> written;
    std::uint64_t before = 0;
    std::vector<RunningCopies::Event> open;
    for (const RunningCopies::Event& event : copies.events()) {
      ++written[block_of.at(event.place)];
      EXPECT_LE(before, event.ticks) << subject.name;
      before = event.ticks;
      const bool is_return = !open.empty() && event.sp == open.back().sp;
      if (is_return && event.word == open.back().word) {
        open.pop_back();
        ++returns_right;
      } else {
        open.push_back(event);
      }
    }
    const auto counts = copies.counts();
    std::uint64_t lost = 0;
    for (const auto& [place, block] : block_of) {
      ASSERT_LE(written[block], counts.at(block)) << subject.name;
      lost += counts.at(block) - written[block];
    }
    EXPECT_EQ(copies.lost_events(), lost) << subject.name;
  }
  EXPECT_GT(returns_right, 100U);
}

TEST_P(CopiesThatRun, lose_events_where_the_ring_is_full_and_count_them) {
  constexpr std::uint64_t kFits = core::TransferTable::kEntries - 1;
  const LoadedLibrary library(path_);
  RunningCopies copies(library, path_, {true, true, false, true});
  std::uint64_t calls = 0;
  for (const Subject& subject : subjects_of(library)) {
    for (int run = 0; run < 10'000; ++run, ++calls) {
      (void)subject.run(1);
      if (copies.lost_events() > 0) {
        EXPECT_EQ(copies.events().size(), kFits);
        return;
      }
    }
  }
  FAIL() << calls << " calls have not filled the ring";
}

TEST_P(CopiesThatRun, wait_for_room_until_somebody_makes_it_or_ends_their_waiting) {
  constexpr int kTimes = 3;
  const LoadedLibrary library(path_);
  RunningCopies copies(library, path_, {.writes_events = true, .waits = true});
  std::atomic<int> made = 0;
  std::jthread reader([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (copies.is_full() && made < kTimes) {
        ++made;
        copies.make_room();
      } else if (copies.is_full()) {
        copies.open_waits();
      }
    }
  });
  std::uint64_t calls = 0;
  while (copies.lost_events() == 0 && calls < 10'000'000) {
    for (const Subject& subject : subjects_of(library)) {
      (void)subject.run(1);
      ++calls;
    }
  }
  EXPECT_EQ(made, kTimes);
  EXPECT_GT(copies.lost_events(), 0U) << calls;
}

TEST_P(CopiesThatRun, can_be_left_at_every_instruction) {
  const LoadedLibrary plain(path_);
  const LoadedLibrary copied(path_);
  std::uint64_t moves = 0;
  for (const auto& [counts_transfers, writes_events, period] :
       {std::tuple{false, false, 3U}, std::tuple{false, false, 10U}, std::tuple{true, false, 5U},
        std::tuple{false, true, 7U}}) {
    RunningCopies copies(copied, path_, {true, true, counts_transfers, writes_events});
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
