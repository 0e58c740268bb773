// Traces with any damage are read without a crash and in bounded memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <sstream>
#include <string>

#include "profiler/formats/trace_chrome.h"
#include "profiler/formats/trace_perfetto.h"
#include "profiler/formats/trace_speedscope.h"
#include "profiler/formats/xray_log.h"
#include "profiler/trace/trace_reader.h"
#include "profiler/trace/trace_walk.h"
#include "unit/profiler/recording/container_parts.h"
#include "unit/profiler/trace/trace_bytes.h"

namespace sp::profiler {
namespace {

/// Begins and ends; each begin has to have its end.
class Balance final : public CallVisitor {
 public:
  void begin(const TracedCall& call) override {
    (void)call;
    ++begins;
  }
  void end(const TracedCall& call) override {
    EXPECT_LE(call.begin_ns, call.end_ns);
    ++ends;
  }
  std::uint64_t begins = 0;
  std::uint64_t ends = 0;
};

/// Asks for all that a trace has; returns how many calls there are.
std::uint64_t read_everything(const std::string& bytes, bool with_formats = false) {
  std::istringstream in(bytes);
  auto reader = TraceReader::open(in, "trace.sp");
  if (!reader) {
    return 0;
  }
  TraceWalk walk(*reader, {});
  Balance balance;
  walk.run(balance);
  EXPECT_EQ(balance.begins, balance.ends);
  (void)reader->facts();
  if (with_formats) {
    std::ostringstream out;
    write_trace_chrome(out, *reader, walk, "", "");
    write_trace_perfetto(out, *reader, walk);
    write_trace_speedscope(out, *reader, walk, "", "");
    write_xray_log(out, *reader, walk);
    write_xray_map(out, *reader);
  }
  return balance.begins;
}

TEST(DamagedTrace, is_read_wherever_it_is_cut) {
  const std::string good = test::small_trace();
  const std::uint64_t all = read_everything(good, true);
  EXPECT_EQ(all, 11U);
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_LE(read_everything(good.substr(0, size)), all) << size;
  }
}

TEST(DamagedTrace, is_read_whichever_byte_is_changed) {
  const std::string good = test::small_trace();
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const int change : {0x01, 0x80, 0xFF}) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ change);
      (void)read_everything(bad);
    }
  }
}

TEST(DamagedTrace, is_read_even_if_its_checksums_are_right) {
  const test::ContainerParts parts = test::parts_of(test::small_trace());
  ASSERT_GT(parts.chunks.size(), 8U);
  constexpr std::uint32_t kValues[] = {0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
  for (std::size_t i = 0; i < parts.chunks.size(); ++i) {
    const std::size_t size = parts.chunks[i].second.size();
    for (std::size_t at = 0; at + sizeof(std::uint32_t) <= size; ++at) {
      for (const std::uint32_t value : kValues) {
        test::ContainerParts bad = parts;
        std::memcpy(bad.chunks[i].second.data() + at, &value, sizeof(value));
        (void)read_everything(test::joined(bad), at % 16 == 0);
      }
    }
    for (std::size_t cut = 0; cut < size; ++cut) {
      test::ContainerParts bad = parts;
      bad.chunks[i].second.resize(cut);
      (void)read_everything(test::joined(bad));
    }
  }
}

TEST(DamagedTrace, is_read_with_any_events) {
  std::mt19937_64 random(13);
  for (int round = 0; round < 300; ++round) {
    test::TraceBytes trace;
    trace.tables();
    for (std::uint32_t thread = 0; thread < 2; ++thread) {
      std::vector<core::TraceEvent> events;
      for (int i = 0; i < 200; ++i) {
        const auto kind = static_cast<core::TraceEventKind>(random() % 16);
        const std::uint64_t ticks = random() % 10 == 0 ? random() : random() % 1'000'000;
        events.push_back(core::TraceEvent::at(kind, ticks, static_cast<std::uint32_t>(random() % 7),
                                              random() % 16 * 8));
      }
      trace.events(thread, events, random() % 2);
    }
    (void)read_everything(trace.finish(), true);
  }
}

TEST(DamagedTrace, does_not_get_memory_because_it_says_so) {
  test::MemorySink sink;
  ContainerWriter writer(sink);
  ASSERT_TRUE(writer.begin({}));
  ASSERT_TRUE(writer.add(ChunkKind::clocks, 0, {}));
  PayloadWriter events;
  events.u32(0);
  events.u32(0);
  events.u64(0);
  events.u64(0);
  events.u64(std::uint64_t{1} << 60U);
  ASSERT_TRUE(writer.add(ChunkKind::events, 0, events.bytes()));
  std::istringstream in(sink.text);
  auto reader = TraceReader::open(in, "trace.sp");
  ASSERT_TRUE(reader);
  EXPECT_NE(reader->damage(), "");
  EXPECT_TRUE(reader->places().empty());
}

}  // namespace
}  // namespace sp::profiler
