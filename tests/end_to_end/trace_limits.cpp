// --trace at its limits: events that find no room are counted one by one, and a deep recursion has
// all its ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "arch/native.h"
#include "core/function_trace.h"
#include "end_to_end/profiled.h"
#include "end_to_end/trace_oracles.h"
#include "profiler/trace/trace_reader.h"

namespace sp::end_to_end {
namespace {

using core::TraceEvent;
using core::TraceEventKind;

/// What trace.sp has of a thread.
struct ThreadEvents {
  std::vector<TraceEvent> own;           // without those that tell of the event behind them
  std::vector<std::uint64_t> arguments;  // of its calls, where they are logged
  std::vector<std::uint64_t> positions;  // of these calls among all events, lost ones included
  std::uint64_t in_file = 0;             // events of all kinds
  std::uint64_t lost = 0;
};

/// Of the three threads of `trace_ways threads N`, which make all but a few of the calls.
std::vector<ThreadEvents> busy_threads(const std::string& directory) {
  std::ifstream in(directory + "/trace.sp", std::ios::binary);
  auto reader = profiler::TraceReader::open(in, "trace.sp");
  EXPECT_TRUE(reader.has_value());
  std::map<std::uint32_t, ThreadEvents> threads;
  for (const auto& place : reader->places()) {
    ThreadEvents& thread = threads[place.thread];
    thread.lost += place.lost;
    std::vector<TraceEvent> events;
    EXPECT_TRUE(reader->read(place, events));
    thread.in_file += events.size();
    for (const TraceEvent& event : events) {
      if (event.kind() == TraceEventKind::value) {
        thread.arguments.push_back(event.ticks);
        thread.positions.push_back(thread.own.size() + thread.lost);
      } else if (event.kind() != TraceEventKind::stolen && event.kind() != TraceEventKind::stack) {
        thread.own.push_back(event);
      }
    }
  }
  EXPECT_EQ(reader->damage(), "");
  std::vector<ThreadEvents> busy;
  for (const auto& [number, thread] : threads) {
    if (thread.own.size() + thread.lost >= 100) {
      busy.push_back(thread);
    }
  }
  return busy;
}

/// Of a thread that calls leaf so often: these, calls_much, and its end.
std::uint64_t events_made(std::uint64_t calls) { return 2 * calls + 3; }

/// Runs it with that, and the arguments of leaf.
RunFiles trace_threads(const TempDir& directory, const Words& more, std::uint64_t calls) {
  write_file(directory / "attributes", "[always]\nfun:leaf=arg1\n");
  Words options{"--trace", "--attr-list", directory / "attributes"};
  options.insert(options.end(), more.begin(), more.end());
  const auto run =
      profile(directory, options, {target("trace_ways"), "threads", std::to_string(calls)});
  EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_EQ(run.files.calls_of("leaf"), 3 * calls + 1) << run.outcome.text();
  return run.files;
}

/// Each loss stands where it was, but for an event that finds no room in the moment in which room
/// is made: that one may be told with the next loss.
void expect_calls_in_place(const ThreadEvents& thread) {
  constexpr std::uint64_t kEntryOfCaller = 1;
  ASSERT_EQ(thread.positions.size(), thread.arguments.size());
  for (std::size_t i = 0; i < thread.arguments.size(); ++i) {
    const std::uint64_t place = kEntryOfCaller + 2 * thread.arguments[i];
    ASSERT_LE(thread.positions[i], place) << "of call " << i;
    ASSERT_GE(thread.positions[i] + 1, place) << "of call " << i;
  }
}

std::vector<std::uint64_t> numbers(std::uint64_t from, std::uint64_t to) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t number = from; number < to; ++number) {
    all.push_back(number);
  }
  return all;
}

constexpr std::uint64_t kCalls = 1'000;
constexpr std::uint64_t kRoom = 100;

class TraceLimits : public testing::TestWithParam<Way> {
 protected:
  static RunFiles trace_in_room(const TempDir& directory, const std::string& when_full) {
    Words options{"--when-full", when_full, "--buffer", std::to_string(kRoom)};
    options.insert(options.end(), GetParam().options.begin(), GetParam().options.end());
    return trace_threads(directory, options, kCalls);
  }
};

TEST_P(TraceLimits, discard_has_the_first_events_and_counts_each_of_the_others) {
  const TempDir directory;
  const RunFiles files = trace_in_room(directory, "discard");
  const auto threads = busy_threads(files.directory());
  ASSERT_EQ(threads.size(), 3U);
  for (const ThreadEvents& thread : threads) {
    EXPECT_EQ(thread.own.size(), kRoom);
    EXPECT_EQ(thread.own.size() + thread.lost, events_made(kCalls));
    expect_calls_in_place(thread);
    EXPECT_EQ(thread.arguments, numbers(0, kRoom / 2));
  }
  EXPECT_EQ(files.run().at("trace").at("lost"), 3 * (events_made(kCalls) - kRoom));
}

TEST_P(TraceLimits, keep_has_the_last_events) {
  const TempDir directory;
  const RunFiles files = trace_in_room(directory, "keep");
  const auto threads = busy_threads(files.directory());
  ASSERT_EQ(threads.size(), 3U);
  std::uint64_t lost = 0;
  for (const ThreadEvents& thread : threads) {
    ASSERT_EQ(thread.own.size(), kRoom);
    EXPECT_EQ(thread.own.back().kind(), TraceEventKind::end);
    EXPECT_EQ(thread.own[kRoom - 2].kind(), TraceEventKind::ret);  // of calls_much
    EXPECT_EQ(thread.arguments, numbers(kCalls - thread.arguments.size(), kCalls));
    EXPECT_EQ(thread.arguments.size(), kRoom / 2 - 1);
    EXPECT_EQ(thread.own.size() + thread.lost, events_made(kCalls));
    expect_calls_in_place(thread);
    lost += thread.lost;
  }
  EXPECT_EQ(files.run().at("trace").at("lost"), lost);
}

INSTANTIATE_TEST_SUITE_P(By, TraceLimits,
                         testing::Values(Way{"breakpoints", {"--via", "int3"}}, Way{"default", {}},
                                         Way{"all", {"-a"}}),
                         name_of_way);

/// Runs it so, and returns how many events were lost.
std::uint64_t lose_from_copies(const std::string& when_full, std::uint64_t calls) {
  const TempDir directory;
  const RunFiles files =
      trace_threads(directory, {"--via", "copy", "--when-full", when_full}, calls);
  const auto threads = busy_threads(files.directory());
  EXPECT_EQ(threads.size(), 3U);
  std::uint64_t lost = 0;
  for (const ThreadEvents& thread : threads) {
    EXPECT_EQ(thread.own.size() + thread.lost, events_made(calls));
    expect_calls_in_place(thread);
    lost += thread.lost;
  }
  const auto facts = files.run().at("trace");
  EXPECT_EQ(facts.at("lost"), lost);
  EXPECT_EQ(facts.at("kind"), lost == 0 ? "exact" : "exact-until");
  return lost;
}

TEST(TraceLosses, of_copies_that_are_faster_than_we_read_are_counted_one_by_one) {
  if (!arch::Native::kHasCounterSegment) {
    GTEST_SKIP() << "copies write no events on this CPU";
  }
  for (const char* const when_full : {"flush", "discard", "keep"}) {
    SCOPED_TRACE(when_full);
    std::uint64_t lost = 0;
    for (std::uint64_t calls = 80'000; lost == 0 && calls < 2'000'000; calls *= 2) {
      lost = lose_from_copies(when_full, calls);
    }
    EXPECT_GT(lost, 0U) << "it has shown nothing";
  }
}

TEST(TraceOfRecursion, has_an_end_for_each_begin_of_100000_levels) {
  const TempDir directory;
  const auto run = profile(directory, {"--trace", "-a"}, {target("trace_ways"), "deep", "100000"});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_EQ(run.outcome.out, "100001\n");
  EXPECT_EQ(run.files.run().at("trace").at("lost"), 0) << run.outcome.text();
  EXPECT_EQ(run.files.calls_of("deep"), 100'001U);
  const std::string path = directory / "calls.json";
  const Outcome made =
      sp::end_to_end::run({SP_PROGRAM, "convert", directory / "run", "-f", "chrome", "-o", path});
  ASSERT_EQ(made.exit_status(), 0) << made.text();
  std::ifstream lines(path);
  int begins = 0;
  int open = 0;
  int deepest = 0;
  for (std::string line; std::getline(lines, line);) {  // an event each
    const bool is_deep = line.find(R"("name":"deep")") != std::string::npos;
    if (is_deep && line.starts_with(R"({"ph":"B")")) {
      ++begins;
      deepest = std::max(deepest, ++open);
    } else if (open > 0 && line.starts_with(R"({"ph":"E")")) {
      EXPECT_TRUE(is_deep) << line;  // nothing else is called there
      --open;
    }
  }
  EXPECT_EQ(begins, 100'001);
  EXPECT_EQ(deepest, 100'001);
  EXPECT_EQ(open, 0);
}

}  // namespace
}  // namespace sp::end_to_end
