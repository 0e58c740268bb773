#include "profiler/run_parts.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>

#include "unit/profiler/temporary_directory.h"

namespace sp::profiler {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

core::TimePoint at(int second) { return core::TimePoint(seconds(1000 + second)); }

core::RunFacts facts_at(int second) {
  core::RunFacts facts;
  facts.name = "run";
  facts.started_at = std::chrono::system_clock::time_point(seconds(50));
  facts.elapsed = seconds(second);
  const auto whole = static_cast<std::uint64_t>(second);
  facts.cost.stops = 100 * whole;
  facts.cost.stopped = milliseconds(10 * second);
  facts.cost.target_cpu = milliseconds(510 * second);
  facts.cost.overhead_percent = 2;
  facts.cost.mean_interval = milliseconds(second < 20 ? 10 : 20);
  facts.losses.samples_dropped = whole;
  facts.probing.emplace();
  facts.probing->planted = 7;
  facts.probing->hits = 1000 * whole;
  facts.trace.emplace();
  facts.trace->events = 5 * whole;
  facts.trace->lost = whole;
  return facts;
}

TEST(FactsSince, are_what_was_added) {
  const core::RunFacts since = facts_since(facts_at(20), facts_at(10));
  EXPECT_EQ(since.elapsed, seconds(10));
  EXPECT_EQ(since.started_at, std::chrono::system_clock::time_point(seconds(60)));
  EXPECT_EQ(since.cost.stops, 1000U);
  EXPECT_EQ(since.cost.stopped, milliseconds(100));
  EXPECT_EQ(since.cost.target_cpu, milliseconds(5100));
  EXPECT_NEAR(since.cost.overhead_percent, 2, 1e-9);
  EXPECT_EQ(since.losses.samples_dropped, 10U);
  EXPECT_EQ(since.probing->hits, 10'000U);
  EXPECT_EQ(since.probing->planted, 7U) << "how many there are";
  EXPECT_EQ(since.trace->lost, 10U);
  // 1,000 in 10 s, and 1,000 in 20 s.
  const core::RunFacts none = facts_since(facts_at(10), facts_at(10));
  EXPECT_EQ(none.elapsed, core::Duration{});
  EXPECT_EQ(none.cost.stops, 0U);
  core::RunFacts slower = facts_at(30);
  slower.cost.mean_interval = milliseconds(15);
  EXPECT_EQ(facts_since(slower, facts_at(10)).cost.mean_interval, milliseconds(20));
  // What is estimated may shrink.
  core::RunFacts less = facts_at(20);
  less.cost.target_cpu = milliseconds(1);
  EXPECT_EQ(facts_since(less, facts_at(10)).cost.target_cpu, core::Duration{});
}

class RunPartsOf : public ::testing::Test {
 protected:
  RunParts parts(core::Duration every, std::uint64_t bytes, std::size_t keep = 0) {
    SplitOptions split;
    split.every = every;
    split.bytes = bytes;
    split.keep = keep;
    split.ask = [this] { ++asked_; };
    split.make_directory = [this](std::uint32_t part) {
      return RunDirectory::create(directory_.path(), "run." + std::to_string(part), false);
    };
    return RunParts(std::move(split), at(0));
  }
  [[nodiscard]] std::unique_ptr<RunDirectory> first() const {
    return std::make_unique<RunDirectory>(
        std::move(*RunDirectory::create(directory_.path(), "run.1", false)));
  }

  test::TemporaryDirectory directory_;
  int asked_ = 0;
};

TEST_F(RunPartsOf, time_are_asked_for_once_each) {
  RunParts run = parts(seconds(10), 0);
  run.tick(at(9), 1'000'000);
  EXPECT_EQ(asked_, 0);
  EXPECT_EQ(run.on_snapshot(), nullptr) << "what the user asks for ends no part";
  run.note(core::ThreadSeen{{1, 0}, {3, 0}, "has ended", {}});
  run.tick(at(10), 0);
  run.tick(at(11), 0);
  EXPECT_EQ(asked_, 1);
  // A sample that was taken later, and still belongs to the part.
  core::SampleTaken sample;
  sample.time = at(12);
  run.note(sample);
  run.note(core::ThreadSeen{{1, 0}, {2, 0}, "t", {}});
  std::unique_ptr<RunDirectory> next = run.on_snapshot();
  ASSERT_NE(next, nullptr);
  const core::RunFacts ended = run.last_facts(facts_at(13), 3);
  EXPECT_EQ(ended.name, "run.1");
  EXPECT_EQ(ended.part, 1U);
  EXPECT_EQ(ended.end, core::RunEnd::split);
  EXPECT_EQ(ended.elapsed, seconds(12));
  EXPECT_EQ(ended.trace->events, 3U);
  run.begin_next(facts_at(13), first());
  EXPECT_EQ(run.started(), at(12));
  EXPECT_FALSE(run.is_first());
  EXPECT_EQ(run.alive(), (std::unordered_set<core::ThreadId>{{2, 0}}));
  const core::RunFacts second = run.facts_of(facts_at(20), 0);
  EXPECT_EQ(second.name, "run.2");
  EXPECT_EQ(second.elapsed, seconds(8));
  EXPECT_EQ(second.cost.stops, 700U);
  run.tick(at(21), 0);
  EXPECT_EQ(asked_, 1);
  run.tick(at(22), 0);
  EXPECT_EQ(asked_, 2);
}

TEST_F(RunPartsOf, size_keep_the_last_ones) {
  RunParts run = parts({}, 1000, 2);
  std::unique_ptr<RunDirectory> current = first();
  for (int part = 1; part <= 3; ++part) {
    ASSERT_TRUE(current->write("run.json", [](std::ostream& out) { out << "{}"; }));
    run.tick(at(part), 999);
    EXPECT_EQ(asked_, part - 1);
    run.tick(at(part), 1000);
    EXPECT_EQ(asked_, part);
    std::unique_ptr<RunDirectory> next = run.on_snapshot();
    ASSERT_NE(next, nullptr);
    run.begin_next(facts_at(part), std::move(current));
    current = std::move(next);
  }
  const std::filesystem::path all = directory_.path();
  EXPECT_FALSE(std::filesystem::exists(all / "run.1"));
  EXPECT_FALSE(std::filesystem::exists(all / "run.2"));
  EXPECT_TRUE(std::filesystem::exists(all / "run.3/run.json"));
  EXPECT_TRUE(std::filesystem::exists(all / "run.4"));
}

TEST_F(RunPartsOf, a_run_that_is_not_split_are_one) {
  RunParts run({}, at(0));
  run.tick(at(100'000), UINT64_MAX);
  EXPECT_EQ(run.on_snapshot(), nullptr);
  const core::RunFacts facts = run.facts_of(facts_at(20), 3);
  EXPECT_EQ(facts.name, "run");
  EXPECT_EQ(facts.part, 0U);
  EXPECT_EQ(facts.trace->events, 100U);
}

}  // namespace
}  // namespace sp::profiler
