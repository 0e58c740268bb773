#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>

#include "profiler/recording/chunk_header.h"
#include "profiler/recording/recording_reader.h"
#include "profiler/trace/trace_reader.h"
#include "unit/profiler/trace/trace_bytes.h"

namespace sp::profiler {
namespace {

using test::entry;
using test::ret;
using test::TraceBytes;

/// A reader with its stream.
struct Opened {
  explicit Opened(const std::string& bytes) : in(bytes), reader(TraceReader::open(in, "trace.sp")) {
    EXPECT_TRUE(reader) << (reader ? "" : reader.error().message());
  }
  std::vector<core::TraceEvent> events(std::uint32_t thread) {
    std::vector<core::TraceEvent> all;
    for (const TraceReader::Place& place : reader->places()) {
      std::vector<core::TraceEvent> events;
      if (place.thread == thread && reader->read(place, events)) {
        all.insert(all.end(), events.begin(), events.end());
      }
    }
    return all;
  }

  std::istringstream in;
  core::Result<TraceReader> reader;
};

TEST(TraceFile, has_what_was_written) {
  Opened trace(test::small_trace());
  EXPECT_EQ(trace.reader->damage(), "");
  EXPECT_TRUE(trace.reader->header().finished);
  EXPECT_EQ(trace.reader->header().pid, 4711U);
  ASSERT_EQ(trace.reader->processes().size(), 1U);
  EXPECT_EQ(trace.reader->processes()[0].command, "/bin/demo 'a b'");
  ASSERT_NE(trace.reader->thread(1), nullptr);
  EXPECT_EQ(trace.reader->thread(1)->id.tid, 4712);
  EXPECT_EQ(trace.reader->thread(2), nullptr);
  ASSERT_NE(trace.reader->module(7), nullptr);
  EXPECT_EQ(trace.reader->module(7)->build_id, "c0ffee");
  EXPECT_EQ(trace.reader->function_numbers().size(), 6U);
  const TraceFunction* const outer = trace.reader->function(test::kOuter);
  ASSERT_NE(outer, nullptr);
  EXPECT_EQ(outer->name, "outer");
  EXPECT_EQ(outer->linkage_name, "_Zouter");
  EXPECT_EQ(outer->file, "/src/demo.c");
  EXPECT_EQ(outer->line, 30U);
  EXPECT_EQ(outer->id, 0x1234'0000'1100ULL);
  EXPECT_EQ(outer->until_ns, std::nullopt);
  EXPECT_TRUE(trace.reader->function(test::kCold)->is_part);
  EXPECT_EQ(trace.reader->function(99), nullptr);
  EXPECT_EQ(trace.reader->facts(), "{\"name\": \"demo-7\"}");
  EXPECT_EQ(trace.events(0).size(), 15U);
  EXPECT_EQ(trace.events(1).size(), 6U);
  EXPECT_EQ(trace.events(0).front(), entry(10, test::kMain, 0x7000));
}

TEST(TraceFile, takes_the_last_row_of_a_number) {
  TraceBytes bytes;
  EXPECT_TRUE(bytes.writer.add_function(3, {.module = 1, .offset = 0x10}));
  bytes.events(0, {entry(1, 3, 0x100)});
  EXPECT_TRUE(bytes.writer.flush());
  EXPECT_TRUE(bytes.writer.add_function(
      3, {.module = 1, .offset = 0x10, .name = "f", .since_ns = 5, .until_ns = -7}));
  EXPECT_TRUE(bytes.writer.add_thread(0, {7, 1}, {7, 1}, ""));
  EXPECT_TRUE(bytes.writer.add_thread(0, {7, 1}, {7, 1}, "named"));
  EXPECT_TRUE(bytes.writer.write_facts("{}"));
  EXPECT_TRUE(bytes.writer.write_facts("{\"a\":1}"));
  Opened trace(bytes.finish());
  EXPECT_EQ(trace.reader->function_numbers().size(), 1U);
  EXPECT_EQ(trace.reader->function(3)->name, "f");
  EXPECT_EQ(trace.reader->function(3)->since_ns, 5);
  EXPECT_EQ(trace.reader->function(3)->until_ns, -7);
  EXPECT_EQ(trace.reader->thread(0)->name, "named");
  EXPECT_EQ(trace.reader->facts(), "{\"a\":1}");
}

TEST(TraceFile, reads_up_to_the_last_flush_of_a_run_that_was_killed) {
  TraceBytes bytes;
  bytes.tables();
  bytes.events(0, {entry(1, test::kMain, 0x100)});
  EXPECT_TRUE(bytes.writer.flush());
  bytes.events(0, {ret(2, test::kMain, 0x100)});
  Opened trace(bytes.sink.text);
  EXPECT_EQ(trace.reader->damage(), "");
  EXPECT_FALSE(trace.reader->header().finished);
  EXPECT_EQ(trace.events(0).size(), 1U);
  EXPECT_EQ(trace.reader->function(test::kMain)->name, "main");
}

TEST(TraceFile, writes_many_events_in_bounded_memory_and_in_order) {
  TraceBytes bytes;
  constexpr std::uint64_t kThreads = 5;
  constexpr std::uint64_t kBatches = 400;
  std::map<std::uint32_t, std::vector<core::TraceEvent>> written;
  std::uint64_t number = 0;
  for (std::uint64_t batch = 0; batch < kBatches; ++batch) {
    const auto thread = static_cast<std::uint32_t>(batch % kThreads);
    std::vector<core::TraceEvent> events;
    for (std::uint64_t i = 0; i < 1 + batch * 7; ++i) {
      ++number;
      events.push_back(entry(static_cast<std::int64_t>(number), test::kMain, number * 8));
    }
    bytes.events(thread, events);
    written[thread].insert(written[thread].end(), events.begin(), events.end());
  }
  EXPECT_GT(bytes.sink.text.size(), 100'000U) << "nothing is written before the end";
  Opened trace(bytes.finish());
  for (const auto& [thread, events] : written) {
    EXPECT_EQ(trace.events(thread), events) << thread;
  }
  for (const TraceReader::Place& place : trace.reader->places()) {
    EXPECT_LE(place.count, kMostEventsInChunk);
    EXPECT_EQ(place.lost, 0U);
  }
}

TEST(TraceFile, says_what_is_lost_even_if_nobody_has) {
  TraceBytes bytes;
  bytes.events(0, {entry(1, test::kMain, 0x100)});
  bytes.events(0, {entry(2, test::kMain, 0x100)}, 5);
  EXPECT_TRUE(bytes.writer.add_events(0, 10, 0, std::vector{ret(3, test::kMain, 0x100)}));
  EXPECT_TRUE(bytes.writer.add_events(0, 14, 3, {}));
  Opened trace(bytes.finish());
  std::vector<std::uint64_t> lost;
  for (const TraceReader::Place& place : trace.reader->places()) {
    lost.push_back(place.lost);
  }
  EXPECT_EQ(lost, (std::vector<std::uint64_t>{0, 5, 3, 3}));
}

TEST(TraceFile, goes_on_after_a_full_disk) {
  TraceBytes bytes;
  bytes.tables();
  bytes.events(0, {entry(1, test::kMain, 0x100)});
  EXPECT_TRUE(bytes.writer.flush());
  bytes.sink.room = bytes.sink.text.size() + 10;
  bytes.events(0, {ret(2, test::kMain, 0x100)});
  EXPECT_FALSE(bytes.writer.flush());
  bytes.sink.room = std::size_t{1} << 30U;
  bytes.events(0, {entry(3, test::kMain, 0x100)});
  Opened trace(bytes.finish());
  EXPECT_EQ(trace.reader->damage(), "");
  EXPECT_EQ(trace.events(0),
            (std::vector{entry(1, test::kMain, 0x100), entry(3, test::kMain, 0x100)}));
  EXPECT_EQ(trace.reader->places().back().lost, 1U);
}

TEST(TraceFile, is_told_from_a_recording) {
  test::MemorySink sink;
  ContainerWriter recording(sink);
  EXPECT_TRUE(recording.begin({}));
  EXPECT_TRUE(recording.finish());
  std::istringstream in(sink.text);
  const auto reader = TraceReader::open(in, "recording.sp");
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().message(), "recording.sp is not a trace");
}

TEST(TraceFile, can_be_read_as_a_recording_without_samples) {
  std::istringstream in(test::small_trace());
  auto reader = RecordingReader::open(in, "trace.sp");
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->damage(), "");
  EXPECT_EQ(reader->modules().size(), 1U);
  EXPECT_EQ(reader->threads().size(), 2U);
  EXPECT_EQ(reader->samples().kept, 0U);
  EXPECT_EQ(reader->facts(), "{\"name\": \"demo-7\"}");
}

TEST(TraceClock, is_monotonic_time_without_pairs) {
  const TraceClock clock({}, 1'000);
  EXPECT_EQ(clock.ns_at(1'000), 0);
  EXPECT_EQ(clock.ns_at(3'500), 2'500);
  EXPECT_EQ(clock.ns_at(400), -600);
}

TEST(TraceClock, follows_the_lines_between_its_pairs) {
  const TraceClock clock({{1'000, 0}, {2'000, 500}, {3'000, 2'500}, {2'500, 400}}, 77);
  EXPECT_EQ(clock.ns_at(1'500), 250);
  EXPECT_EQ(clock.ns_at(2'000), 500);
  EXPECT_EQ(clock.ns_at(2'500), 1'500);
  EXPECT_EQ(clock.ns_at(3'500), 3'500) << "as between the last two";
  EXPECT_EQ(clock.ns_at(800), -100) << "as between the first two";
}

TEST(TraceClock, bears_any_numbers) {
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  const TraceClock clock({{0, std::int64_t{-1} << 62U}, {1, std::int64_t{1} << 62U}}, 0);
  EXPECT_GT(clock.ns_at(kMost), 0);
  EXPECT_LT(clock.ns_at(0), 0);
  EXPECT_EQ(TraceClock({{kMost, 5}}, 0).ns_at(kMost), 5);
}

}  // namespace
}  // namespace sp::profiler
