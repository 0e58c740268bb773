#include "commands/top/live_profile.h"

#include <gtest/gtest.h>

#include <chrono>
#include <utility>

#include "commands/top/top_text.h"

namespace sp::top {
namespace {

constexpr core::ModuleId kProgram{1};

/// Function fN covers the addresses from 0xN00.
class Names final : public profiler::Namer {
 public:
  void add_module(const core::Module& /*module*/) override {}
  [[nodiscard]] const std::vector<symbols::NamedFrame>& name(core::ModuleOffset where,
                                                             bool /*is_return*/) override {
    answer_ = {{"f" + std::to_string(where.offset >> 8U), true, where.offset & ~0xFFULL, false,
                std::nullopt}};
    return answer_;
  }

 private:
  std::vector<symbols::NamedFrame> answer_;
};

core::Record module() {
  core::Module program;
  program.id = kProgram;
  program.path = "/bin/a.out";
  return core::ModuleSeen{program};
}

/// Innermost first.
core::Record sample(const std::vector<std::uint64_t>& offsets) {
  core::SampleTaken taken;
  for (const std::uint64_t offset : offsets) {
    taken.stack.frames.push_back({{kProgram, offset}, !taken.stack.frames.empty()});
  }
  return taken;
}

/// The first block of a function was executed that often since the last report.
core::Record entered(std::uint64_t start, std::uint64_t hits,
                     std::optional<core::TimePoint> since = std::nullopt) {
  core::ProbeCountsTaken taken;
  core::ProbedBlock<core::ModuleOffset> block;
  block.start = {kProgram, start};
  block.size = 4;
  block.instructions = 1;
  block.hits = hits;
  block.since = since;
  block.is_jumped_to = false;
  taken.code.blocks.push_back(block);
  return taken;
}

TEST(LiveProfile, shows_each_interval_alone) {
  Names names;
  LiveProfile profile(names, false);
  const core::TimePoint begin = core::Clock::now();
  profile.add(module());
  profile.add(sample({0x210, 0x110}));
  profile.add(sample({0x210, 0x110}));
  profile.add(sample({0x110}));
  const Table first = profile.take_table(begin + std::chrono::seconds(1), cli::Sort::self);
  ASSERT_EQ(first.rows.size(), 2U);
  EXPECT_EQ(first.rows[0].function, "f2");
  EXPECT_EQ(first.rows[0].module, "/bin/a.out");
  EXPECT_EQ(first.rows[0].self, 2U);
  EXPECT_EQ(first.rows[1].total, 3U);
  EXPECT_FALSE(first.rows[0].calls_per_second);
  EXPECT_FALSE(profile.has_samples());
  profile.add(sample({0x310}));
  const Table second = profile.take_table(begin + std::chrono::seconds(2), cli::Sort::self);
  ASSERT_EQ(second.rows.size(), 1U);
  EXPECT_EQ(second.rows[0].function, "f3");
  EXPECT_EQ(second.rows[0].module, "/bin/a.out");  // although the module was seen before
  EXPECT_EQ(second.counts.total(), 1U);
  EXPECT_EQ(second.interval, std::chrono::seconds(1));
}

TEST(LiveProfile, sorts_by_total) {
  Names names;
  LiveProfile profile(names, false);
  profile.add(module());
  profile.add(sample({0x210, 0x110}));
  const Table table = profile.take_table(core::Clock::now(), cli::Sort::total);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].function, "f2");  // as much in total, and more itself
}

TEST(LiveProfile, has_the_calls_of_the_interval) {
  Names names;
  LiveProfile profile(names, true);
  const core::TimePoint begin = core::Clock::now();
  profile.add(module());
  profile.add(entered(0x100, 10));
  (void)profile.take_table(begin, cli::Sort::calls);
  profile.add(entered(0x100, 50));
  const Table table = profile.take_table(begin + std::chrono::seconds(2), cli::Sort::calls);
  ASSERT_EQ(table.rows.size(), 1U);
  ASSERT_TRUE(table.rows[0].calls_per_second);
  EXPECT_NEAR(*table.rows[0].calls_per_second, 25, 0.01);
}

TEST(LiveProfile, leaves_out_the_calls_of_before_where_counting_began_within_an_interval) {
  Names names;
  LiveProfile profile(names, true);
  const core::TimePoint begin = core::Clock::now() + std::chrono::seconds(1);
  profile.add(module());
  (void)profile.take_table(begin, cli::Sort::calls);
  const core::TimePoint since = begin + std::chrono::seconds(1);
  profile.add(entered(0x100, 1000, since));
  const Table first = profile.take_table(begin + std::chrono::seconds(2), cli::Sort::calls);
  EXPECT_TRUE(first.rows.empty());
  profile.add(entered(0x100, 50, since));
  const Table table = profile.take_table(begin + std::chrono::seconds(4), cli::Sort::calls);
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_NEAR(table.rows[0].calls_per_second.value_or(0), 25, 0.01);
}

TEST(TopText, fits_the_screen) {
  Heading heading;
  heading.command = "a.out " + std::string(200, 'x');
  heading.facts.pid = 7;
  heading.facts.threads = 3;
  heading.facts.elapsed = std::chrono::seconds(5);
  heading.facts.cost.overhead_percent = 1.5;
  heading.facts.cost.budget_percent = 25;
  heading.target_cpu = std::chrono::milliseconds(1500);
  heading.counts_calls = true;
  Table table;
  table.interval = std::chrono::seconds(1);
  table.counts.on_cpu = 4;
  table.counts.with_stack = 4;
  table.rows = {{"f1", "/bin/a.out", 3, 4, 1234567.0},
                {"f2", "/bin/a.out", 1, 1, std::nullopt},
                {"f3", "/bin/a.out", 0, 1, std::nullopt}};
  const std::string wide = table_text(heading, table, 30, 300);
  EXPECT_NE(wide.find("(7): 5.00 s, 150 % CPU, 3 threads"), std::string::npos) << wide;
  EXPECT_NE(wide.find("overhead about 1.50 % (budget 25 %)"), std::string::npos) << wide;
  EXPECT_NE(wide.find("\n   75.00   100.00       1,234,567  f1  a.out\n"), std::string::npos)
      << wide;
  EXPECT_NE(wide.find("               -  f2  a.out\n"), std::string::npos) << wide;
  const std::string small = table_text(heading, table, 5, 60);
  EXPECT_EQ(std::count(small.begin(), small.end(), '\n'), 5) << small;
  for (std::size_t at = 0; at < small.size();) {
    const std::size_t end = small.find('\n', at);
    EXPECT_LE(end - at, 60U) << small;
    at = end + 1;
  }
}

}  // namespace
}  // namespace sp::top
