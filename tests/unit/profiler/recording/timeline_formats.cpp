// The formats that have the time and the thread of each sample, of one small recording.
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/formats/chrome.h"
#include "profiler/formats/firefox.h"
#include "profiler/formats/perf_script.h"
#include "profiler/formats/perfetto.h"
#include "profiler/slices.h"
#include "unit/profiler/golden.h"
#include "unit/profiler/recording/recorded_bytes.h"

namespace sp::profiler {
namespace {

using test::expect_golden;
using test::RecordedBytes;
using test::sample;

template <typename Write>
std::string written(const std::string& recording, Write write) {
  std::istringstream in(recording);
  auto reader = RecordingReader::open(in, "recording.sp");
  EXPECT_TRUE(reader);
  std::ostringstream out;
  RecordedRun run;
  run.name = "demo-7";
  run.command = "/bin/demo 'a b'";
  run.version = "0.1.0";
  run.samples = 7;
  run.with_stack = 6;
  run.cpu_ns = 2'000'000'000;
  run.interval_us = 250'000;
  write(out, run, *reader);
  return out.str();
}

/// Threads and functions with names that a format must escape, inlined code, a sleeper.
std::string hard_recording() {
  RecordedBytes run;
  test::TableNamer namer;
  const auto odd = std::string("op;\"<'\\\n") + '\0' + "\xff()";
  namer.set({test::kProgram, 0x10}, "main");
  namer.set({test::kProgram, 0x20},
            {test::named("inner", "/src/a \"b\".c", 7, true), test::named(odd, "/src/demo.c", 9)});
  namer.set({test::kProgram, 0x40}, "leaf");
  run.thread(4711, "demo");
  run.thread(4712, "wor\nker");
  run.add(sample({0x20, 0x10}), 4711, 1);
  run.add(sample({0x40, 0x20, 0x10}), 4711, 1.25);
  run.add(test::blocked_sample({0x10}, "read"), 4712, 1.3);
  run.add(sample({0x40, 0x10}), 4711, 1.5);
  run.flush();
  run.add(sample({0x40, 0x10}), 4711, 9.123456789);
  run.add(test::pc_sample(0x20), 4712, 9.5);
  run.add(sample({0x30}, core::StackEnd::bad_memory), 4712, 9.75);
  run.write_set("{}", namer);
  run.finish();
  return run.sink.text;
}

TEST(PerfScript, has_each_sample_with_its_stack) {
  expect_golden("perf_script.txt", written(hard_recording(), write_perf_script));
}

TEST(Chrome, has_a_slice_for_each_stretch_of_equal_frames) {
  expect_golden("chrome.json", written(hard_recording(), write_chrome));
}

TEST(Firefox, has_the_tables_of_its_processed_format) {
  expect_golden("firefox.json", written(hard_recording(), write_firefox));
}

/// A message of Perfetto's as text, a line for each field: its path of field numbers, its value.
std::string proto_text(std::string_view bytes, const std::string& path = "") {
  static const std::set<std::string> kTexts = {".1.60.3.2", ".1.60.3.6", ".1.60.4.5", ".1.11.22",
                                               ".1.12.2.2", ".1.12.4.2", ".1.12.4.3"};
  std::string text;
  const auto varint = [&bytes] {
    std::uint64_t value = 0;
    for (unsigned shift = 0; !bytes.empty() && shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes.front());
      bytes.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) {
        return value;
      }
    }
    ADD_FAILURE() << "a number is cut";
    return value;
  };
  while (!bytes.empty()) {
    const std::uint64_t tag = varint();
    const std::string field = path + "." + std::to_string(tag >> 3U);
    const std::uint64_t value = varint();
    if ((tag & 7U) == 0) {
      text += field + " " + std::to_string(value) + "\n";
      continue;
    }
    EXPECT_EQ(tag & 7U, 2U) << field;
    EXPECT_LE(value, bytes.size()) << field;
    const std::string_view inner = bytes.substr(0, value);
    bytes.remove_prefix(inner.size());
    text += kTexts.contains(field) ? field + " " + std::string(inner) + "\n"
                                   : field + "\n" + proto_text(inner, field);
  }
  return text;
}

TEST(Perfetto, has_the_slices_as_track_events) {
  expect_golden("perfetto.txt", proto_text(written(hard_recording(), write_perfetto)));
}

TEST(Perfetto, cuts_long_names_between_characters) {
  RecordedBytes run;
  test::TableNamer namer;
  std::string name(1023, 'n');
  name += "\u00e9\u00e9";
  namer.set({test::kProgram, 0x10}, name);
  run.add(sample({0x10}), 4711, 1);
  run.write_set("{}", namer);
  const std::string text = proto_text(written(run.sink.text, write_perfetto));
  EXPECT_NE(text.find(".1.12.2.2 " + std::string(1023, 'n') + "\n"), std::string::npos);
}

TEST(TimelineFormats, name_code_by_its_module_if_the_run_was_killed) {
  RecordedBytes run;
  run.thread(4711, "demo");
  run.add(sample({0x20, 0x10}), 4711, 1);
  run.flush();
  const std::string& file = run.sink.text;
  EXPECT_NE(written(file, write_perf_script).find("555555554020 [unknown] (/usr/bin/demo)\n"),
            std::string::npos);
  EXPECT_NE(written(file, write_chrome).find("\"name\":\"demo+0x20\""), std::string::npos);
  EXPECT_NE(written(file, write_firefox).find("\"demo+0x20\""), std::string::npos);
}

TEST(Slices, are_nested_and_end_where_a_thread_seems_to_sleep) {
  RecordedBytes run;
  test::TableNamer namer;
  for (const std::uint64_t offset : {1U, 2U, 3U}) {
    namer.set({test::kProgram, offset}, "f" + std::to_string(offset));
  }
  run.add(sample({2, 1}), 7, 10);
  run.add(sample({3, 1}), 8, 11);
  run.add(sample({3, 2, 1}), 7, 12);
  run.add(sample({3, 1}), 7, 13);
  run.add(sample({3, 1}), 7, 50);
  run.write_set("{}", namer);
  std::istringstream in(run.sink.text);
  auto reader = RecordingReader::open(in, "recording.sp");
  ASSERT_TRUE(reader);
  const PlaceNames names(*reader);
  std::string text;
  Slices(*reader, names, 10'000'000'000).for_each([&](const Slices::Event& event) {
    text += std::to_string(event.time_ns / 1'000'000'000) + (event.begins ? "+" : "-") +
            names.functions()[event.function].name + "@" + std::to_string(event.thread) + " ";
  });
  EXPECT_EQ(text,
            "10+f1@0 10+f2@0 11+f1@1 11+f3@1 12+f3@0 13-f3@0 13-f2@0 13+f3@0 "
            "23-f3@0 23-f1@0 50+f1@0 50+f3@0 60-f3@0 60-f1@0 21-f3@1 21-f1@1 ");
}

}  // namespace
}  // namespace sp::profiler
