#include "profiler/profiler.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "profiler/recording/recording_reader.h"
#include "unit/profiler/counted.h"
#include "unit/profiler/golden.h"
#include "unit/profiler/probed.h"
#include "unit/profiler/sample_run.h"
#include "unit/profiler/temporary_directory.h"

namespace sp::profiler {
namespace {

namespace fs = std::filesystem;
using test::read_file;
using test::sample;

struct Recorded {
  bool finished = false;
  std::uint64_t samples = 0;
  std::string threads;  // each with a semicolon
  std::string names;    // of the functions, in a row
  std::string facts;
};

/// Nothing if there is none yet.
Recorded recording_in(const std::string& directory) {
  std::ifstream in(directory + "/recording.sp", std::ios::binary);
  auto reader = RecordingReader::open(in, "recording.sp");
  if (!reader) {
    return {};
  }
  Recorded recorded{reader->header().finished, reader->samples().weight, {}, {}, reader->facts()};
  for (const RecordingThread& thread : reader->threads()) {
    recorded.threads += std::string(thread.name) + ";";
  }
  for (const RecordingFunction& function : reader->functions()) {
    recorded.names += function.self > 0 ? function.name : "";
  }
  return recorded;
}

class ProfilerTest : public testing::Test {
 protected:
  RunDirectory directory(bool overwrite = false) {
    auto made = RunDirectory::create(temporary_.path(), "demo", overwrite);
    EXPECT_TRUE(made) << made.error().message();
    return std::move(*made);
  }
  [[nodiscard]] std::string path(const std::string& file) const {
    return temporary_.path() + "/demo/" + file;
  }
  void push(core::Record record) { EXPECT_TRUE(records_.push(std::move(record))); }

  test::TemporaryDirectory temporary_;
  core::Channel<core::Record> records_{1000};
};

TEST_F(ProfilerTest, reads_until_the_channel_ends_and_writes_every_file) {
  auto namer = std::make_unique<test::TableNamer>();
  test::TableNamer& names = *namer;
  Profiler profiler({.flame = true}, records_, std::move(namer), directory());
  push(core::ModuleSeen{test::module(test::kProgram, core::ModuleKind::file, "/usr/bin/demo")});
  std::thread stage([&] { profiler.run(); });
  push(sample({2, 1}));
  push(sample({2, 1}, core::StackEnd::too_deep));
  push(core::SamplesLost{9});
  records_.close();
  stage.join();
  EXPECT_EQ(names.added, std::vector<std::string>{"/usr/bin/demo"});
  EXPECT_EQ(profiler.progress().samples(), 2);
  EXPECT_EQ(profiler.progress().truncated, 1);
  EXPECT_EQ(profiler.progress().lost, 9);

  const auto written = profiler.finish(test::facts());
  ASSERT_TRUE(written) << written.error().message();
  EXPECT_TRUE(written->failures.empty());
  EXPECT_EQ(written->files.size(), 5);
  ASSERT_EQ(written->top.size(), 2);
  EXPECT_EQ(written->top[0].self, 2);
  EXPECT_EQ(read_file(path("stacks.folded")), "?1;?2 1\n[truncated];?1;?2 1\n");
  EXPECT_NE(read_file(path("flamegraph.svg")).find("sampled (2 samples, on-CPU)"),
            std::string::npos);
}

TEST_F(ProfilerTest, counted_code_has_files_in_exact_mode_only) {
  {
    Profiler profiler({.counting = Counting::exact}, records_, std::make_unique<test::TableNamer>(),
                      directory());
    push(test::loop(7).taken());
    push(core::SnapshotWanted{});
    push(test::loop(5).taken());
    records_.close();
    profiler.run();
    const auto written = profiler.finish(test::facts());
    ASSERT_TRUE(written) << written.error().message();
    ASSERT_TRUE(written->code.has_value());
    EXPECT_EQ(written->code->blocks, 3U);
    EXPECT_EQ(written->code->top.at(0).hits, 12U);
    EXPECT_NE(read_file(path("blocks.tsv")).find("\t12\texact\t"), std::string::npos);
    EXPECT_NE(read_file(path("edges.tsv")).find("\t10\texact\ttaken\n"), std::string::npos);
    EXPECT_NE(read_file(path("run.json")).find("\"executions\": 16"), std::string::npos);
  }
  core::Channel<core::Record> none{10};
  none.close();
  Profiler sampling({}, none, std::make_unique<test::TableNamer>(), directory(true));
  sampling.run();
  ASSERT_TRUE(sampling.finish(test::facts()));
  EXPECT_FALSE(fs::exists(path("blocks.tsv"))) << "of the run that was overwritten";
  EXPECT_FALSE(fs::exists(path("edges.tsv")));
  EXPECT_NE(read_file(path("run.json")).find("\"counts\": null"), std::string::npos);
}

TEST_F(ProfilerTest, probes_beside_samples_have_the_files_of_counted_code) {
  Profiler profiler({.counting = Counting::probed}, records_, std::make_unique<test::TableNamer>(),
                    directory());
  push(sample({0x12}));
  push(test::Probed().block(test::until(7, test::block(0x10, 8, 3))).taken());
  push(core::CodeExplored{1, 20, 6, 0});
  push(test::Probed().block(test::block(0x10, 8, 4)).taken());
  records_.close();
  profiler.run();
  const auto written = profiler.finish(test::facts());
  ASSERT_TRUE(written) << written.error().message();
  EXPECT_EQ(written->files.size(), 6U);
  const std::string blocks = read_file(path("blocks.tsv"));
  EXPECT_NE(blocks.find("\t8\t4\t7\texact-until:7.000\t"), std::string::npos) << blocks;
  EXPECT_NE(blocks.find("\t8\t4\t1\tsampled\t\t\t"), std::string::npos) << blocks;
  EXPECT_NE(read_file(path("run.json")).find("\"executions\": 7"), std::string::npos);
}

TEST_F(ProfilerTest, a_snapshot_has_what_came_before_it_and_the_run_goes_on) {
  Profiler profiler({.facts_now = test::facts}, records_, std::make_unique<test::TableNamer>(),
                    directory());
  push(sample({1}));
  push(core::SnapshotWanted{});
  records_.close();
  profiler.run();
  EXPECT_EQ(read_file(path("stacks.folded")), "?1 1\n");
  EXPECT_NE(read_file(path("run.json")).find("\"end\": \"running\""), std::string::npos);
  ASSERT_TRUE(profiler.finish(test::facts()));
  EXPECT_NE(read_file(path("run.json")).find("\"end\": \"target_exited\""), std::string::npos);
}

TEST_F(ProfilerTest, ticks_for_the_status_line_even_when_nothing_comes) {
  std::atomic<int> ticks = 0;
  Profiler profiler({.on_tick =
                         [&] {
                           if (++ticks == 3) {
                             records_.close();
                           }
                         },
                     .tick = std::chrono::milliseconds(1)},
                    records_, std::make_unique<test::TableNamer>(), directory());
  profiler.run();
  EXPECT_EQ(ticks, 3);
}

TEST_F(ProfilerTest, a_directory_that_is_gone_at_the_end_does_not_lose_the_run) {
  Profiler profiler({}, records_, std::make_unique<test::TableNamer>(), directory());
  push(sample({1}));
  records_.close();
  profiler.run();
  fs::remove_all(temporary_.path() + "/demo");
  ::setenv("TMPDIR", temporary_.path().c_str(), 1);
  const auto written = profiler.finish(test::facts());
  ::unsetenv("TMPDIR");
  ASSERT_TRUE(written) << written.error().message();
  EXPECT_EQ(written->failures.size(), 4);
  EXPECT_EQ(written->files.size(), 4);
  EXPECT_NE(written->fallback_directory, "");
  EXPECT_EQ(read_file(written->fallback_directory + "/stacks.folded"), "?1 1\n");
  EXPECT_EQ(recording_in(written->fallback_directory).names, "?1");
}

TEST_F(ProfilerTest, records_samples_while_the_run_goes_on) {
  Profiler profiler({.facts_now = test::facts, .tick = std::chrono::milliseconds(1)}, records_,
                    std::make_unique<test::TableNamer>(), directory());
  std::thread stage([&] { profiler.run(); });
  push(core::ThreadSeen{{}, {}, "worker"});
  push(sample({1}));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  Recorded recorded;
  while (recorded.samples == 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    recorded = recording_in(temporary_.path() + "/demo");
  }
  EXPECT_EQ(recorded.samples, 1U) << "what a killed run leaves";
  EXPECT_EQ(recorded.threads, "worker;");
  EXPECT_FALSE(recorded.finished);
  EXPECT_NE(recorded.facts.find("\"end\": \"running\""), std::string::npos);
  push(sample({1}));
  records_.close();
  stage.join();
  const auto written = profiler.finish(test::facts());
  ASSERT_TRUE(written) << written.error().message();
  recorded = recording_in(temporary_.path() + "/demo");
  EXPECT_EQ(recorded.samples, 2U);
  EXPECT_TRUE(recorded.finished);
  EXPECT_EQ(recorded.facts, read_file(path("run.json")));
  EXPECT_EQ(recorded.names, "?1");
}

TEST_F(ProfilerTest, has_no_recording_of_a_program_that_did_not_start) {
  { const Profiler profiler({}, records_, std::make_unique<test::TableNamer>(), directory()); }
  EXPECT_FALSE(fs::exists(temporary_.path() + "/demo"));
}

TEST_F(ProfilerTest, an_overwritten_runs_flame_graph_does_not_outlive_its_numbers) {
  fs::create_directory(temporary_.path() + "/demo");
  std::ofstream(path("flamegraph.svg")) << "old";
  std::ofstream(path("notes.txt")) << "mine";
  Profiler profiler({}, records_, std::make_unique<test::TableNamer>(), directory(true));
  records_.close();
  profiler.run();
  ASSERT_TRUE(profiler.finish(test::facts()));
  EXPECT_FALSE(fs::exists(path("flamegraph.svg")));
  EXPECT_EQ(read_file(path("notes.txt")), "mine");
}

}  // namespace
}  // namespace sp::profiler
