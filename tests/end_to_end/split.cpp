// --split: a run in parts, each a run of its own; together they have what one run has.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "arch/native.h"
#include "end_to_end/probe_support.h"
#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

/// The parts of a run in DIR/run.1, DIR/run.2, ..
std::vector<RunFiles> parts_in(const TempDir& directory) {
  std::vector<RunFiles> parts;
  for (int part = 1; part < 10000; ++part) {
    const std::string path = directory / ("run." + std::to_string(part));
    if (std::filesystem::exists(path)) {
      parts.emplace_back(path);
    }
  }
  return parts;
}

void expect_to_be_opened(const std::string& path) {
  const Outcome report = run({SP_PROGRAM, "report", path});
  EXPECT_EQ(report.exit_status(), 0) << report.text();
  const Outcome info = run({SP_PROGRAM, "info", path});
  EXPECT_EQ(info.exit_status(), 0) << info.text();
  EXPECT_NE(info.out.find("complete"), std::string::npos) << info.out;
  EXPECT_EQ(info.err, "");
  for (const char* const format : {"folded", "speedscope", "perf-script"}) {
    const Outcome converted = run({SP_PROGRAM, "convert", path, "-f", format, "-o", "-"});
    EXPECT_EQ(converted.exit_status(), 0) << converted.text();
    EXPECT_FALSE(converted.out.empty());
  }
  const Outcome diff = run({SP_PROGRAM, "diff", path, path, "--fail-on", "total>0"});
  EXPECT_EQ(diff.exit_status(), 0) << diff.text();
}

TEST(Split, begins_a_run_each_period) {
  SP_SKIP_WHERE_SAMPLES_ARE_FEW();
  const TempDir directory;
  Running steady({target("steady"), "1"});
  ASSERT_TRUE(steady.says("ready\n"));
  Running profiler(superprofiler(
      directory, {"-n", "--by-thread", "--split", "1s", "-p", std::to_string(steady.pid())}));
  ASSERT_TRUE(eventually([&] { return parts_in(directory).size() >= 3; })) << profiler.err();
  profiler.signal(SIGINT);
  const Outcome outcome = profiler.wait();
  ASSERT_EQ(outcome.exit_status(), 0) << outcome.text();
  const auto parts = parts_in(directory);
  EXPECT_FALSE(std::filesystem::exists(directory / "run"));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto json = parts[i].run();
    const bool is_last = i + 1 == parts.size();
    EXPECT_TRUE(parts[i].complete());
    EXPECT_EQ(json.at("part"), i + 1);
    EXPECT_EQ(json.at("name"), "run." + std::to_string(i + 1));
    EXPECT_EQ(json.at("end"), is_last ? "detached" : "split");
    // What a part cost and how long it took is its own.
    const double elapsed = json.at("elapsed_seconds");
    EXPECT_TRUE(is_last || elapsed > 0.99) << elapsed;
    EXPECT_LT(json.at("cost").at("target_cpu_us").get<double>() / 1e6, elapsed + 0.5);
    EXPECT_EQ(json.at("losses").at("samples_dropped"), 0);
    EXPECT_EQ(json.at("thread_count"), 2);
    if (!is_last) {
      EXPECT_GT(parts[i].self_of("add_up"), 0U) << parts[i].directory();
      for (const FoldedStack& stack : parts[i].stacks()) {
        EXPECT_TRUE(stack.frames.front().starts_with("steady (")) << "threads keep their names";
      }
      expect_to_be_opened(parts[i].directory());
    }
  }
  const Outcome diff =
      run({SP_PROGRAM, "diff", parts[0].directory(), parts[1].directory(), "--json"});
  EXPECT_EQ(diff.exit_status(), 0) << diff.text();
  EXPECT_NE(outcome.err.find("the last of " + std::to_string(parts.size()) + " parts"),
            std::string::npos)
      << outcome.err;
  EXPECT_EQ(what_was_left_behind(steady.pid()), "");
  steady.close_input();
  EXPECT_EQ(steady.wait().out, "ready\nright\n");
}

TEST(Split, begins_a_run_at_each_size_and_keeps_the_last_ones) {
  SP_SKIP_WHERE_SAMPLES_ARE_FEW();
  const TempDir directory;
  Running steady({target("steady"), "2"});
  ASSERT_TRUE(steady.says("ready\n"));
  Running profiler(
      superprofiler(directory, {"-n", "-i", "50", "--overhead", "0", "--split", "100kB",
                                "--split-keep", "2", "-p", std::to_string(steady.pid())}));
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(directory / "run.3/recording.sp"); }))
      << profiler.err();
  EXPECT_TRUE(eventually([&] { return !std::filesystem::exists(directory / "run.1"); }));
  profiler.signal(SIGINT);
  const Outcome outcome = profiler.wait();
  ASSERT_EQ(outcome.exit_status(), 0) << outcome.text();
  const auto parts = parts_in(directory);
  ASSERT_EQ(parts.size(), 2U) << outcome.text();
  const auto size = std::filesystem::file_size(parts[0].directory() + "/recording.sp");
  EXPECT_GE(size, 100'000U);
  EXPECT_LT(size, 1'000'000U);
  expect_to_be_opened(parts[0].directory());
}

/// Exact since the part's start at least.
std::uint64_t counted_in(const RunFiles& part, const std::string& function) {
  const std::string cells = calls_of(part, function);  // "12 exact-since:0.000"
  if (cells.empty()) {
    return 0;  // none in that part
  }
  EXPECT_TRUE(cells.ends_with(" exact") || cells.ends_with(" exact-since:0.000")) << cells;
  return std::stoull(cells);
}

struct SplitMode {
  std::string name;
  Words options;
  int rounds = 0;
};

class SplitCounts : public ::testing::TestWithParam<SplitMode> {};

/// As many calls in all parts together as the program says that it has made.
TEST_P(SplitCounts, add_up_to_those_of_the_whole_run) {
  const SplitMode& mode = GetParam();
  if (mode.name == "copies" && !arch::Native::kHasCopies) {
    GTEST_SKIP() << "nothing runs from copies on this CPU";
  }
  const TempDir directory;
  Words options{"--split", "1s"};
  options.insert(options.end(), mode.options.begin(), mode.options.end());
  const Outcome outcome = run(superprofiler(
      directory, options,
      {target("counted_threads"), "2", std::to_string(mode.rounds / patience_factor())}));
  ASSERT_EQ(outcome.exit_status(), 0) << outcome.text();
  std::istringstream said(outcome.out);
  std::uint64_t ones = 0;
  std::uint64_t pairs = 0;
  said >> ones >> pairs;
  const auto parts = parts_in(directory);
  EXPECT_GE(parts.size(), 2U) << outcome.text();
  std::uint64_t counted_ones = 0;
  std::uint64_t counted_pairs = 0;
  std::uint64_t traced = 0;
  for (const RunFiles& part : parts) {
    counted_ones += counted_in(part, "count_one");
    counted_pairs += counted_in(part, "count_pair");
    if (mode.name != "trace") {
      continue;
    }
    const Outcome report =
        run({SP_PROGRAM, "report", "--trace", part.directory(), "--json", "--percent-limit", "0"});
    ASSERT_EQ(report.exit_status(), 0) << report.text();
    EXPECT_EQ(report.err.find("were lost"), std::string::npos) << report.err;
    const auto json = nlohmann::json::parse(report.out, nullptr, false);
    for (const auto& row : json.at("rows")) {
      if (row.at("name") == "count_one") {
        const auto& entered_before = row.at("closings").at("entered-before");
        traced += row.at("calls").get<std::uint64_t>() - entered_before.get<std::uint64_t>();
      }
    }
    EXPECT_EQ(part.run().at("trace").at("lost"), 0);
  }
  EXPECT_EQ(counted_ones, ones);
  EXPECT_EQ(counted_pairs, pairs);
  EXPECT_EQ(traced, mode.name == "trace" ? ones : 0);
}

INSTANTIATE_TEST_SUITE_P(Modes, SplitCounts,
                         testing::Values(SplitMode{"single", {"-s"}, 30'000},
                                         SplitMode{"probes", {"-a", "--no-copies"}, 50'000},
                                         SplitMode{"copies", {"-a"}, 60'000'000},
                                         SplitMode{"trace", {"--trace", "-a"}, 30'000}),
                         [](const auto& mode) { return mode.param.name; });

TEST(Split, replaces_no_part_of_an_earlier_run) {
  const TempDir directory;
  std::filesystem::create_directory(directory / "run.7");
  const Words options{"-n", "--split", "1s"};
  const Outcome refused = run(superprofiler(directory, options, {"/bin/true"}));
  EXPECT_EQ(refused.exit_status(), 125) << refused.text();
  EXPECT_NE(refused.err.find("run.7 exists already"), std::string::npos) << refused.err;
  EXPECT_FALSE(std::filesystem::exists(directory / "run.1"));
  // The run goes on where a part cannot be begun.
  std::filesystem::remove(directory / "run.7");
  Running steady({target("steady"), "1"});
  ASSERT_TRUE(steady.says("ready\n"));
  Words words = options;
  words.insert(words.end(), {"-p", std::to_string(steady.pid())});
  Running profiler(superprofiler(directory, words));
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(directory / "run.1"); }));
  write_file(directory / "run.2", "in the way");
  ASSERT_TRUE(profiler.reports("the run goes on in part 1")) << profiler.err();
  profiler.signal(SIGINT);
  const Outcome outcome = profiler.wait();
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_GT(RunFiles(directory / "run.1").run().at("elapsed_seconds"), 0.99);
  EXPECT_EQ(RunFiles(directory / "run.1").run().at("end"), "detached");
}

}  // namespace
}  // namespace sp::end_to_end
