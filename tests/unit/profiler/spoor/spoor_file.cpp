#include "profiler/spoor/spoor_file.h"

#include <gtest/gtest.h>

#include <string>

#include "unit/profiler/recording/memory_sink.h"
#include "unit/profiler/spoor/spoor_bytes.h"

namespace sp::profiler {
namespace {

using test::bytes_of;
using test::SpoorBytes;

SpoorBytes some_file(std::int64_t events = 100) {
  SpoorBytes file{.steady_ns = 77};
  for (std::int64_t i = 0; i < events; ++i) {
    file.events.push_back({1000 + i, 0xC0FFEE'0000'0000ULL + static_cast<std::uint64_t>(i % 3),
                           i % 2 == 0 ? 1U : 2U});
  }
  return file;
}

std::string refusal_of(const std::string& bytes) {
  const auto file = read_spoor_file(bytes_of(bytes), "x.spoor_trace");
  return file ? "" : file.error().message();
}

void expect_some_file(const core::Result<SpoorFile>& file) {
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ(file->damage, "");
  EXPECT_EQ(file->header.run_id, 0xABCDU);
  EXPECT_EQ(file->header.process, 4711);
  EXPECT_EQ(file->header.thread, 0xFFEE'DDCC'BBAA'9988U);
  EXPECT_EQ(file->header.system_ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(file->header.steady_ns, 77);
  ASSERT_EQ(file->events.size(), 100U);
  EXPECT_EQ(file->events[5].steady_ns, 1005);
  EXPECT_EQ(file->events[5].function, 0xC0FFEE'0000'0002ULL);
  EXPECT_EQ(file->events[5].type, SpoorEvent::kExit);
}

TEST(SpoorFile, is_read_in_both_byte_orders_and_packed) {
  for (const bool is_big : {false, true}) {
    for (const bool is_packed : {false, true}) {
      SpoorBytes file = some_file();
      file.is_big = is_big;
      file.is_packed = is_packed;
      const std::string bytes = file.text();
      EXPECT_TRUE(is_spoor_trace(bytes_of(bytes)));
      EXPECT_EQ(bytes.size() < kSpoorHeaderSize + 100 * kSpoorEventSize, is_packed);
      expect_some_file(read_spoor_file(bytes_of(bytes), "x"));
    }
  }
}

TEST(SpoorFile, that_is_cut_is_read_up_to_there) {
  const std::string good = some_file().text();
  const std::string cut = good.substr(0, kSpoorHeaderSize + 10 * kSpoorEventSize + 7);
  const auto file = read_spoor_file(bytes_of(cut), "x");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->events.size(), 10U);
  EXPECT_EQ(file->damage, "x is cut at byte 311: 10 of its 100 events can be read");
  const auto longer = read_spoor_file(bytes_of(good + "abc"), "x");
  ASSERT_TRUE(longer);
  EXPECT_EQ(longer->damage, "x has 3 bytes behind its 100 events, which are left out");
}

TEST(SpoorFile, that_cannot_be_read_says_why) {
  const std::string good = some_file().text();
  EXPECT_EQ(refusal_of(good.substr(0, 63)),
            "x.spoor_trace has 63 bytes, and the header of Spoor's traces alone 64: it is cut");
  EXPECT_EQ(refusal_of(""),
            "x.spoor_trace has 0 bytes, and the header of Spoor's traces alone 64: it is cut");
  EXPECT_EQ(refusal_of("\x7F"
                       "ELF"),
            "x.spoor_trace is not a trace of Spoor's: it does not begin with Spoor's 10 bytes");
  const auto changed = [&](std::size_t at, char to) {
    std::string bad = good;
    bad[at] = to;
    return refusal_of(bad);
  };
  EXPECT_EQ(changed(10, 2), "x.spoor_trace is damaged: byte 10, the byte order, is 2, not 0 or 1");
  EXPECT_EQ(changed(11, 9), "x.spoor_trace is damaged: byte 11, the compression, is 9, not 0 or 1");
  EXPECT_EQ(changed(12, 3), "x.spoor_trace has version 3 of Spoor's format; only 0 can be read");
  EXPECT_EQ(changed(59, '\xFF'),
            "x.spoor_trace is damaged: at byte 56 it says that it has -16777116 events");
}

TEST(SpoorFile, with_a_damaged_block_of_snappy_is_refused) {
  SpoorBytes file = some_file();
  file.is_packed = true;
  const std::string good = file.text();
  const std::string kWhy =
      "x.spoor_trace is damaged: its block of snappy behind byte 64 does not hold ";
  EXPECT_EQ(refusal_of(good.substr(0, good.size() - 1)), kWhy + "100 events");
  std::string more = good;
  more[56] = 101;
  EXPECT_EQ(refusal_of(more), kWhy + "101 events");
  // It says that it holds 48 GB, in 7 bytes.
  more.replace(56, 4, "\xFF\xFF\xFF\x7F");
  EXPECT_EQ(refusal_of(more.substr(0, 64) + "\xE8\xFF\xFF\xFF\xBF\x01" + "x"),
            kWhy + "2,147,483,647 events");
}

TEST(SpoorFile, is_read_whichever_byte_is_changed) {
  for (const bool is_packed : {false, true}) {
    constexpr std::int64_t kEvents = 12;
    SpoorBytes file = some_file(kEvents);
    file.is_packed = is_packed;
    const std::string good = file.text();
    for (std::size_t at = 0; at < good.size(); ++at) {
      for (const int change : {0x01, 0x80, 0xFF}) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ change);
        const auto read = read_spoor_file(bytes_of(bad), "x");
        EXPECT_TRUE(!read || read->events.size() <= kEvents);
      }
      (void)read_spoor_file(bytes_of(good.substr(0, at)), "x");
    }
  }
}

}  // namespace
}  // namespace sp::profiler
