#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "profiler/trace/trace_writer.h"
#include "unit/profiler/recording/memory_sink.h"

namespace sp::profiler::test {

using core::TraceEvent;
using core::TraceEventKind;

/// An event at a microsecond of the run, at a stack pointer; traces of tests start at 0.
inline TraceEvent traced(TraceEventKind kind, std::int64_t us, std::uint32_t function = 0,
                         std::uint64_t sp = 0) {
  return TraceEvent::at(kind, static_cast<std::uint64_t>(us * 1000), function, sp);
}
inline TraceEvent entry(std::int64_t us, std::uint32_t function, std::uint64_t sp) {
  return traced(TraceEventKind::entry, us, function, sp);
}
inline TraceEvent ret(std::int64_t us, std::uint32_t function, std::uint64_t sp) {
  return traced(TraceEventKind::ret, us, function, sp);
}

constexpr std::uint32_t kMain = 0;
constexpr std::uint32_t kOuter = 1;
constexpr std::uint32_t kInner = 2;
constexpr std::uint32_t kOdd = 3;   // a name that formats must escape
constexpr std::uint32_t kCold = 4;  // a part of outer
constexpr std::uint32_t kUnnamed = 5;

/// A trace of a small program in memory.
class TraceBytes {
 public:
  explicit TraceBytes(ContainerHeader header = {.run_id = 1,
                                                .realtime_ns = 1'700'000'000'000'000'000,
                                                .monotonic_ns = 0,
                                                .pid = 4711,
                                                .cpu = ContainerHeader::Cpu::x86_64})
      : writer(sink) {
    EXPECT_TRUE(writer.begin(header));
  }

  void tables() {
    EXPECT_TRUE(writer.add_process({4711, 1}, {}, "/bin/demo 'a b'"));
    EXPECT_TRUE(writer.add_thread(0, {4711, 1}, {4711, 1}, "demo"));
    EXPECT_TRUE(writer.add_thread(1, {4712, 1}, {4711, 1}, "wor\n\"ker"));
    EXPECT_TRUE(
        writer.add_module(7, "/bin/demo", "c0ffee", 0x5500'0000'0000, core::ModuleKind::file));
    const std::string odd = std::string("op;\"<'\\\n") + '\0' + "\xff()";
    function(kMain, 0x1000, "main", "/src/demo.c", 12);
    function(kOuter, 0x1100, "outer", "/src/demo.c", 30);
    function(kInner, 0x1200, "inner", "", 0);
    function(kOdd, 0x1300, odd, "/src/a \"b\".c", 3);
    EXPECT_TRUE(writer.add_function(kCold, {.module = 7,
                                            .offset = 0x1400,
                                            .size = 0x10,
                                            .is_part = true,
                                            .linkage_name = "outer.cold"}));
    EXPECT_TRUE(writer.add_function(kUnnamed, {.module = 7, .offset = 0x1500}));
  }
  void function(std::uint32_t number, std::uint64_t offset, const std::string& name,
                const std::string& file, std::uint32_t line) {
    EXPECT_TRUE(writer.add_function(number, {.module = 7,
                                             .offset = offset,
                                             .size = 0x80,
                                             .id = 0x1234'0000'0000ULL + offset,
                                             .linkage_name = "_Z" + name,
                                             .name = name,
                                             .file = file,
                                             .line = line}));
  }
  void events(std::uint32_t thread, const std::vector<TraceEvent>& of, std::uint64_t lost = 0) {
    std::uint64_t& next = next_[thread];
    next += lost;
    EXPECT_TRUE(writer.add_events(thread, next, lost, of));
    next += of.size();
  }
  [[nodiscard]] std::string finish() {
    EXPECT_TRUE(writer.finish());
    return sink.text;
  }

  MemorySink sink;
  TraceWriter writer;

 private:
  std::map<std::uint32_t, std::uint64_t> next_;
};

/// Something of everything: two threads, stolen time, calls that were entered before, unwound, left
/// by a tail call and open at the end, an alternate stack, a function without a name.
inline std::string small_trace() {
  TraceBytes trace;
  trace.tables();
  trace.events(0, {entry(10, kMain, 0x7000), entry(20, kOuter, 0x6000), entry(30, kInner, 0x5000),
                   traced(TraceEventKind::resumed, 40, kMain, 0x6800), entry(50, kOdd, 0x6000),
                   traced(TraceEventKind::tail, 60, kOdd, 0x6000), entry(60, kUnnamed, 0x6000),
                   ret(70, kUnnamed, 0x6000), traced(TraceEventKind::stack, 71, 1),
                   entry(72, kInner, 0x900000), ret(75, kInner, 0x900000),
                   traced(TraceEventKind::stack, 76, 0), entry(80, kOuter, 0x6000)});
  trace.events(
      1, {ret(15, kInner, 0x2000), traced(TraceEventKind::stolen, 5), ret(25, kOuter, 0x3000),
          entry(31, kInner, 0x2000), ret(33, kInner, 0x2000), traced(TraceEventKind::end, 40)});
  trace.events(0, {ret(90, kCold, 0x6000), entry(95, kInner, 0x6000)});
  EXPECT_TRUE(trace.writer.write_facts("{\"name\": \"demo-7\"}"));
  return trace.finish();
}

}  // namespace sp::profiler::test
