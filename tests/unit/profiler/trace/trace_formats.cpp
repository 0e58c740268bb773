// The formats that have each call of a trace, of one small trace with names that each must escape.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>

#include "profiler/formats/trace_chrome.h"
#include "profiler/formats/trace_perfetto.h"
#include "profiler/formats/trace_speedscope.h"
#include "profiler/formats/xray_log.h"
#include "unit/profiler/golden.h"
#include "unit/profiler/trace/trace_bytes.h"

namespace sp::profiler {
namespace {

using test::expect_golden;

template <typename Write>
std::string of_small_trace(Write write) {
  std::istringstream in(test::small_trace());
  auto reader = TraceReader::open(in, "trace.sp");
  EXPECT_TRUE(reader);
  TraceWalk walk(*reader, {});
  std::ostringstream out;
  write(out, *reader, walk);
  return out.str();
}

/// A message of Perfetto's as text, a line for each field: its path of field numbers, its value.
/// Texts are told from messages by the paths of the messages.
std::string packets_text(std::string_view bytes, const std::string& path = "") {
  std::string text;
  const auto varint = [&bytes] {
    std::uint64_t value = 0;
    for (unsigned shift = 0; !bytes.empty() && shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes.front());
      bytes.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) {
        break;
      }
    }
    return value;
  };
  constexpr std::string_view kMessages[] = {".1",      ".1.6",    ".1.6.1", ".1.60",
                                            ".1.60.3", ".1.60.4", ".1.12",  ".1.12.2",
                                            ".1.12.3", ".1.12.4", ".1.11",  ".1.11.4"};
  while (!bytes.empty()) {
    const std::uint64_t tag = varint();
    const std::string field = path + "." + std::to_string(tag >> 3U);
    if ((tag & 7U) == 0) {
      text += field + ": " + std::to_string(varint()) + "\n";
      continue;
    }
    const std::uint64_t size = varint();
    EXPECT_EQ(tag & 7U, 2U);
    EXPECT_LE(size, bytes.size());
    const std::string_view inner = bytes.substr(0, size);
    bytes.remove_prefix(inner.size());
    const bool is_message =
        std::find(std::begin(kMessages), std::end(kMessages), field) != std::end(kMessages);
    text += is_message ? (field == ".1" ? "\n" : "") + packets_text(inner, field)
                       : field + ": \"" + std::string(inner) + "\"\n";
  }
  return text;
}

TEST(TracePerfetto, has_a_begin_and_an_end_for_each_call) {
  const std::string text =
      packets_text(of_small_trace([](std::ostream& out, TraceReader& reader, TraceWalk& walk) {
        write_trace_perfetto(out, reader, walk);
      }));
  expect_golden("trace_perfetto.txt", text);
}

TEST(TraceChrome, has_a_begin_and_an_end_for_each_call) {
  expect_golden("trace_chrome.json",
                of_small_trace([](std::ostream& out, TraceReader& reader, TraceWalk& walk) {
                  write_trace_chrome(out, reader, walk, "/bin/demo 'a b'", "superprofiler 0.1.0");
                }));
}

TEST(TraceSpeedscope, has_a_profile_for_each_stack_of_a_thread) {
  expect_golden("trace_speedscope.json",
                of_small_trace([](std::ostream& out, TraceReader& reader, TraceWalk& walk) {
                  write_trace_speedscope(out, reader, walk, "demo-7", "superprofiler 0.1.0");
                }));
}

TEST(XrayLog, has_a_record_for_each_begin_and_end) {
  const std::string bytes =
      of_small_trace([](std::ostream& out, TraceReader& reader, TraceWalk& walk) {
        write_xray_log(out, reader, walk);
      });
  ASSERT_EQ(bytes.size(), 32U + 32U * 22);
  const auto at = [&](std::size_t offset, auto number) {
    std::memcpy(&number, bytes.data() + offset, sizeof(number));
    return number;
  };
  EXPECT_EQ(at(0, std::uint16_t{}), 3U);
  EXPECT_EQ(at(2, std::uint16_t{}), 0U);
  EXPECT_EQ(at(4, std::uint32_t{}), 3U);
  EXPECT_EQ(at(8, std::uint64_t{}), 1'000'000'000U);
  std::string text;
  for (std::size_t record = 32; record < bytes.size(); record += 32) {
    text += "kind " + std::to_string(at(record + 3, std::uint8_t{})) + " function " +
            std::to_string(at(record + 4, std::int32_t{})) + " at " +
            std::to_string(at(record + 8, std::uint64_t{})) + " tid " +
            std::to_string(at(record + 16, std::uint32_t{})) + " pid " +
            std::to_string(at(record + 20, std::uint32_t{})) + "\n";
  }
  expect_golden("xray.txt", text);
}

TEST(XrayMap, has_the_functions_in_yaml) {
  expect_golden("xray.yaml",
                of_small_trace([](std::ostream& out, TraceReader& reader, TraceWalk& walk) {
                  (void)walk;
                  write_xray_map(out, reader);
                }));
}

}  // namespace
}  // namespace sp::profiler
