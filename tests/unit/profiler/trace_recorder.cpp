#include "profiler/trace_recorder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <string>

#include "profiler/profiler.h"
#include "profiler/trace/trace_reader.h"
#include "profiler/trace_files.h"
#include "unit/profiler/file_size_limit.h"
#include "unit/profiler/golden.h"
#include "unit/profiler/sample_run.h"
#include "unit/profiler/temporary_directory.h"

namespace sp::profiler {
namespace {

namespace fs = std::filesystem;
using test::FileSizeLimit;

constexpr std::uint64_t kBatch = kMostEventsInChunk;  // written at once
constexpr std::uint64_t kRoom = 300'000;              // bytes: more than one batch, not two

/// Calls of one thread whose times cannot be compressed: a batch takes more than 200,000 bytes.
class Calls {
 public:
  core::TraceEventsTaken next(std::uint64_t count = kBatch) {
    core::TraceEventsTaken taken;
    taken.process = {4711, 1};
    taken.thread = {4711, 1};
    taken.batch.functions.push_back({{test::kProgram, 0x1000}, 0x10});
    taken.batch.first = number_;
    for (std::uint64_t i = 0; i < count; ++i) {
      taken.batch.events.push_back(
          core::TraceEvent::at(core::TraceEventKind::entry, random_(), 0, 0x7000));
    }
    number_ += count;
    return taken;
  }

 private:
  std::mt19937_64 random_;
  std::uint64_t number_ = 0;
};

struct Found {
  std::uint64_t events = 0;
  bool finished = false;
  std::string facts;
};

Found trace_in(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  auto reader = TraceReader::open(in, "trace.sp");
  if (!reader) {
    ADD_FAILURE() << reader.error().message();
    return {};
  }
  Found found{0, reader->header().finished, reader->facts()};
  for (const TraceReader::Place& place : reader->places()) {
    found.events += place.count;
  }
  return found;
}

class TraceRecorderTest : public testing::Test {
 protected:
  TraceRecorderTest() { test::add_modules(profile_); }

  [[nodiscard]] std::string path() const { return temporary_.path() + "/demo"; }
  RunDirectory directory(bool overwrite = false) {
    auto made = RunDirectory::create(temporary_.path(), "demo", overwrite);
    EXPECT_TRUE(made) << made.error().message();
    return std::move(*made);
  }

  test::TemporaryDirectory temporary_;
  Profile profile_{false};
  test::TableNamer namer_;
  Calls calls_;
};

TEST_F(TraceRecorderTest, says_its_first_error_again_if_the_file_could_not_be_created) {
  RunDirectory run = directory();
  TraceRecorder trace(run, {}, test::facts);
  fs::remove_all(path());
  testing::internal::CaptureStderr();
  trace.add(calls_.next(3), profile_);
  trace.add(calls_.next(4), profile_);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("demo/trace.sp: No such file"), std::string::npos) << said;
  EXPECT_EQ(said.find("trace.sp"), said.rfind("trace.sp")) << "once";
  trace.tick(core::Clock::now());
  trace.flush();
  EXPECT_EQ(trace.unwritten(), 7U);
  for (const bool last : {false, true}) {
    const auto written = trace.write_set(profile_, namer_, "{}", last);
    ASSERT_FALSE(written);
    EXPECT_NE(written.error().message().find("demo/trace.sp: No such file"), std::string::npos);
  }
}

TEST_F(TraceRecorderTest, makes_no_file_that_has_no_header) {
  RunDirectory run = directory();
  TraceRecorder trace(run, {}, test::facts);
  {
    const FileSizeLimit limit(8);
    trace.add(calls_.next(3), profile_);
  }
  ASSERT_FALSE(trace.write_set(profile_, namer_, "{}", true));
  EXPECT_EQ(trace.unwritten(), 3U);
  EXPECT_FALSE(fs::exists(path() + "/trace.sp"));
}

TEST_F(TraceRecorderTest, counts_the_events_that_it_did_not_write) {
  RunDirectory run = directory();
  TraceRecorder trace(run, {}, test::facts);
  {
    const FileSizeLimit limit(kRoom);
    trace.add(calls_.next(), profile_);
    EXPECT_EQ(trace.unwritten(), 0U);
    trace.add(calls_.next(), profile_);
  }
  trace.add(calls_.next(5), profile_);
  trace.flush();
  EXPECT_EQ(trace.unwritten(), kBatch + 5);
  const auto written = trace.write_set(profile_, namer_, "{\"name\": 1}", true);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, EFBIG);
  const Found found = trace_in(path() + "/trace.sp");
  EXPECT_EQ(found.events, kBatch);
  EXPECT_FALSE(found.finished);
  EXPECT_EQ(found.facts, "{\"name\": 1}") << "there is room again";
}

TEST_F(TraceRecorderTest, has_written_nothing_if_its_file_was_removed) {
  RunDirectory run = directory();
  TraceRecorder trace(run, {}, test::facts);
  trace.add(calls_.next(3), profile_);
  trace.flush();
  EXPECT_EQ(trace.unwritten(), 0U);
  fs::remove(path() + "/trace.sp");
  EXPECT_EQ(trace.unwritten(), 3U);
  const auto written = trace.write_set(profile_, namer_, "{}", true);
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message().find("removed meanwhile"), std::string::npos);
}

/// Those of a run that delivered so many batches.
core::RunFacts traced_facts(std::uint64_t batches) {
  core::RunFacts facts = test::facts();
  facts.trace.emplace().events = batches * kBatch;
  return facts;
}

TEST_F(TraceRecorderTest, a_run_keeps_a_trace_that_is_incomplete_and_says_so) {
  core::Channel<core::Record> records(10);
  ASSERT_TRUE(records.push(calls_.next()));
  ASSERT_TRUE(records.push(calls_.next()));
  ASSERT_TRUE(records.push(core::SnapshotWanted{}));
  records.close();
  ProfilerOptions options{.counting = Counting::traced,
                          .facts_now = [] { return traced_facts(2); }};
  Profiler profiler(options, records, std::make_unique<test::TableNamer>(), directory());
  {
    const FileSizeLimit limit(kRoom);
    profiler.run();
  }
  const std::string lost =
      "\"kind\": \"exact-until\",\n    \"events\": 32768,\n    \"lost\": 32768";
  EXPECT_EQ(trace_in(path() + "/trace.sp").events, kBatch) << "of a snapshot that failed";
  EXPECT_NE(test::read_file(path() + "/run.json").find(lost), std::string::npos);

  const auto written = profiler.finish(traced_facts(2));
  ASSERT_TRUE(written) << written.error().message();
  EXPECT_EQ(written->unwritten_events, kBatch);
  ASSERT_EQ(written->failures.size(), 1U);
  EXPECT_EQ(written->failures[0].code, EFBIG);
  EXPECT_EQ(trace_in(path() + "/trace.sp").events, kBatch);
  const std::string json = test::read_file(path() + "/run.json");
  EXPECT_NE(json.find(lost), std::string::npos) << json;
  EXPECT_EQ(trace_in(path() + "/trace.sp").facts, json);
}

TEST_F(TraceRecorderTest, a_trace_of_the_run_that_was_overwritten_does_not_outlive_it) {
  fs::create_directory(path());
  std::ofstream(path() + "/trace.sp") << "old";
  core::Channel<core::Record> records(10);
  records.close();
  Profiler profiler({}, records, std::make_unique<test::TableNamer>(), directory(true));
  profiler.run();
  ASSERT_TRUE(profiler.finish(test::facts()));
  EXPECT_FALSE(fs::exists(path() + "/trace.sp"));
}

TEST_F(TraceRecorderTest, begins_its_file_again_when_it_is_cleared) {
  RunDirectory run = directory();
  TraceRecorder trace(run, {}, test::facts);
  trace.add(calls_.next(1'000), profile_);
  trace.serve(core::TraceAction::flush, profile_, namer_);
  EXPECT_EQ(trace_in(path() + "/trace.sp").events, 1'000U);
  trace.add(calls_.next(10), profile_);
  trace.serve(core::TraceAction::clear, profile_, namer_);
  EXPECT_EQ(trace.cleared(), 1'010U);
  EXPECT_EQ(trace_in(path() + "/trace.sp").events, 0U);
  trace.add(Calls().next(7), profile_);
  ASSERT_TRUE(trace.write_set(profile_, namer_, "{}", true));
  EXPECT_EQ(trace.unwritten(), 0U);
  const Found found = trace_in(path() + "/trace.sp");
  EXPECT_EQ(found.events, 7U);
  EXPECT_TRUE(found.finished);
}

TEST_F(TraceRecorderTest, keeps_to_its_size_and_counts_the_rest) {
  constexpr std::uint64_t kMost = 500'000;
  RunDirectory run = directory();
  TraceRecorder trace(run, {}, test::facts, kMost);
  testing::internal::CaptureStderr();
  for (int i = 0; i < 20; ++i) {
    trace.add(calls_.next(5'000), profile_);
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("--trace-size"), std::string::npos) << said;
  EXPECT_EQ(said.find("trace.sp"), said.rfind("trace.sp")) << "once";
  ASSERT_TRUE(trace.write_set(profile_, namer_, "{}", true));
  EXPECT_LE(fs::file_size(path() + "/trace.sp"), kMost);
  const Found found = trace_in(path() + "/trace.sp");
  EXPECT_GT(found.events, 20'000U);
  EXPECT_EQ(found.events + trace.unwritten(), 100'000U);
  EXPECT_TRUE(found.finished);
}

TEST_F(TraceRecorderTest, takes_off_in_a_part_only_what_was_stolen_in_it) {
  const auto stolen = [&](std::uint64_t ticks) {
    core::TraceEventsTaken taken = calls_.next(1);
    taken.batch.events.front() = core::TraceEvent::at(core::TraceEventKind::stolen, ticks, 0, 0);
    return taken;
  };
  fs::create_directory(path());
  auto first = RunDirectory::create(path(), "first", false);
  auto second = RunDirectory::create(path(), "second", false);
  ASSERT_TRUE(first && second);
  TraceRecorder trace(*first, {}, test::facts);
  trace.add(stolen(500), profile_);
  ASSERT_TRUE(trace.write_set(profile_, namer_, "{}", true));
  trace.begin_part(*second, {}, {});
  trace.add(stolen(520), profile_);
  ASSERT_TRUE(trace.write_set(profile_, namer_, "{}", true));
  const auto stolen_in = [&](const std::string& part) {
    std::ifstream in(path() + "/" + part + "/trace.sp", std::ios::binary);
    auto reader = TraceReader::open(in, "trace.sp");
    std::vector<core::TraceEvent> events;
    EXPECT_TRUE(reader && reader->read(reader->places().at(0), events));
    return events.at(0).ticks;
  };
  EXPECT_EQ(stolen_in("first"), 500U);
  EXPECT_EQ(stolen_in("second"), 20U);
}

TEST_F(TraceRecorderTest, says_since_when_it_has_the_calls) {
  RunDirectory run = directory();
  TraceRecorder trace(run, {}, test::facts);
  trace.add(calls_.next(3), profile_);
  trace.set_since(core::TimePoint(core::Duration(5)));
  ASSERT_TRUE(trace.write_set(profile_, namer_, "{}", true));
  std::ifstream in(path() + "/trace.sp", std::ios::binary);
  const auto reader = TraceReader::open(in, "trace.sp");
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->function(0)->since_ns, 5);
}

TEST_F(TraceRecorderTest, compares_entries_with_counted_calls) {
  const auto compared = [&](std::uint64_t calls, std::uint64_t lost) {
    RunDirectory run = directory(true);
    TraceRecorder trace(run, {}, test::facts);
    trace.add(Calls().next(5), profile_);
    NamedCode code;
    code.functions.push_back({"f", test::kProgram, 0x1000, "", calls});
    code.functions.push_back({"not_called", test::kProgram, 0x2000, ""});
    RunReport report;
    report.facts = test::facts();
    report.facts.end = core::RunEnd::target_exited;
    report.facts.threads = 1;
    report.facts.trace.emplace().lost = lost;
    const auto rows = [] {
      std::vector<SymbolRow> table(3);
      table[0].reason = "default";
      table[1].reason = "allow:a";
      table[2].reason = "allow:b";
      return table;
    };
    WrittenRun written;
    write_trace_files({trace, run, profile_, namer_, false, &code}, report, rows, written);
    return report.traced_functions.value_or(TracedFunctions{});
  };
  const TracedFunctions equal = compared(5, 0);
  EXPECT_EQ(equal.by_reason, (std::map<std::string, std::uint64_t>{{"allow", 2}, {"default", 1}}));
  EXPECT_EQ(equal.checked, 1U);
  EXPECT_EQ(equal.disagreeing, 0U);
  EXPECT_EQ(compared(6, 0).disagreeing, 1U);
  EXPECT_EQ(compared(6, 1).checked, 0U) << "events are missing";
}

}  // namespace
}  // namespace sp::profiler
