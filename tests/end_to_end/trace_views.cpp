// What other programs make of a trace.sp: the formats of convert and the tables of report, of a
// trace that is written here. fib(7) has 41 calls, and main is one more.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "end_to_end/profiled.h"
#include "unit/profiler/spoor/spoor_bytes.h"
#include "unit/profiler/trace/trace_bytes.h"

namespace sp::end_to_end {
namespace {

using profiler::test::entry;
using profiler::test::ret;
using profiler::test::TraceBytes;

constexpr int kCalls = 42;
constexpr std::uint32_t kMainFunction = 0;
constexpr std::uint32_t kFib = 1;

void call_fib(int n, std::uint64_t sp, std::int64_t& us, std::vector<core::TraceEvent>& events) {
  events.push_back(entry(++us, kFib, sp));
  if (n > 1) {
    call_fib(n - 1, sp - 48, us, events);
    call_fib(n - 2, sp - 48, us, events);
  }
  events.push_back(ret(++us, kFib, sp));
}

/// A directory that has a trace.sp and nothing else. Its calls take from 1 us on to 84 us.
class TracedRun {
 public:
  TracedRun() {
    std::filesystem::create_directory(path());
    TraceBytes trace;
    EXPECT_TRUE(trace.writer.add_process({4711, 1}, {}, "fib 7"));
    EXPECT_TRUE(trace.writer.add_thread(0, {4711, 1}, {4711, 1}, "fib"));
    EXPECT_TRUE(
        trace.writer.add_module(7, "/bin/fib", "c0ffee", 0x5500'0000'0000, core::ModuleKind::file));
    trace.function(kMainFunction, 0x1000, "main", "/src/fib.c", 9);
    trace.function(kFib, 0x1100, "fib", "/src/fib.c", 3);
    std::int64_t us = 0;
    std::vector<core::TraceEvent> events = {entry(++us, kMainFunction, 0x7000)};
    call_fib(7, 0x6000, us, events);
    events.push_back(ret(++us, kMainFunction, 0x7000));
    trace.events(0, events);
    write_file(file(), trace.finish());
  }
  [[nodiscard]] std::string path() const { return directory_ / "run"; }
  [[nodiscard]] std::string file() const { return path() + "/trace.sp"; }

 private:
  TempDir directory_;
};

std::string convert(const std::string& run_or_file, const Words& options,
                    const std::string& output) {
  Words words = {SP_PROGRAM, "convert", run_or_file, "-o", output};
  words.insert(words.end(), options.begin(), options.end());
  const Outcome outcome = run(words);
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  return read_file(output);
}

std::size_t count(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  return static_cast<std::size_t>(
      std::distance(std::sregex_iterator(text.begin(), text.end(), regex), {}));
}

TEST(TraceViews, chrome_has_a_begin_and_an_end_for_each_call) {
  const TracedRun traced;
  const Outcome outcome = run({SP_PROGRAM, "convert", traced.path(), "-f", "chrome"});
  ASSERT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_NE(outcome.err.find("chrome: traced, 84 begins and ends of calls"), std::string::npos)
      << outcome.err;
  const auto json =
      nlohmann::json::parse(read_file(traced.path() + "/run.trace.json"), nullptr, false);
  ASSERT_TRUE(json.is_object());
  int begins = 0;
  int depth = 0;
  int deepest = 0;
  for (const auto& event : json.at("traceEvents")) {
    begins += event.at("ph") == "B" ? 1 : 0;
    depth += event.at("ph") == "B" ? 1 : event.at("ph") == "E" ? -1 : 0;
    deepest = std::max(deepest, depth);
  }
  EXPECT_EQ(begins, kCalls);
  EXPECT_EQ(depth, 0);
  EXPECT_EQ(deepest, 8);
}

TEST(TraceViews, speedscope_has_balanced_events_in_order) {
  const TracedRun traced;
  const auto json = nlohmann::json::parse(
      convert(traced.file(), {}, traced.path() + "/x.speedscope.json"), nullptr, false);
  ASSERT_TRUE(json.is_object());
  ASSERT_EQ(json.at("profiles").size(), 1U);
  const auto& profile = json.at("profiles").at(0);
  EXPECT_EQ(profile.at("type"), "evented");
  EXPECT_EQ(profile.at("events").size(), 2U * kCalls);
  std::vector<std::size_t> open;
  std::int64_t last = profile.at("startValue");
  for (const auto& event : profile.at("events")) {
    EXPECT_GE(event.at("at"), last);
    last = event.at("at");
    if (event.at("type") == "O") {
      open.push_back(event.at("frame"));
    } else {
      ASSERT_FALSE(open.empty());
      EXPECT_EQ(open.back(), event.at("frame"));
      open.pop_back();
    }
  }
  EXPECT_EQ(last, profile.at("endValue"));
}

TEST(TraceViews, protoc_decodes_what_perfetto_gets) {
  if (!has_program("protoc")) {
    GTEST_SKIP() << "protoc is not installed (protobuf-compiler)";
  }
  const TracedRun traced;
  const std::string output = traced.path() + "/x.perfetto-trace";
  (void)convert(traced.path(), {}, output);
  const Outcome decoded = run({"sh", "-c", "protoc --decode_raw < " + output});
  ASSERT_EQ(decoded.exit_status(), 0) << decoded.text();
  EXPECT_EQ(count(decoded.out, "\n    9: 1\n"), kCalls) << decoded.out;
  EXPECT_EQ(count(decoded.out, "\n    9: 2\n"), kCalls);
}

TEST(TraceViews, llvm_xray_counts_the_same_calls) {
  if (!has_program("llvm-xray")) {
    GTEST_SKIP() << "llvm-xray is not installed (llvm)";
  }
  const TracedRun traced;
  const std::string log = traced.path() + "/x.xray";
  EXPECT_EQ(convert(traced.path(), {}, log).size(), 32U + 64U * kCalls);
  const std::string map = "-instr_map=" + log + ".yaml";
  const Outcome account = run({"llvm-xray", "account", log, map, "-sort=funcid", "-format=csv"});
  ASSERT_EQ(account.exit_status(), 0) << account.text();
  EXPECT_NE(account.out.find("\n1,1,"), std::string::npos) << account.out;
  EXPECT_NE(account.out.find("\n2,41,"), std::string::npos) << account.out;
  const Outcome stacks = run({"llvm-xray", "stack", log, map});
  EXPECT_EQ(stacks.exit_status(), 0) << stacks.text();
  const Outcome events = run({"llvm-xray", "convert", log, "-output-format=trace_event"});
  ASSERT_EQ(events.exit_status(), 0) << events.text();
  const auto json = nlohmann::json::parse(events.out, nullptr, false);
  ASSERT_TRUE(json.is_object()) << events.out;
  EXPECT_EQ(json.at("traceEvents").size(), 2U * kCalls);
}

TEST(TraceViews, cuts_leave_calls_that_are_open_there) {
  const TracedRun traced;
  const std::string output = traced.path() + "/x.trace.json";
  // main and fib are open at both cuts.
  const std::string cut = convert(traced.path(), {"--from", "40us", "--to", "42us"}, output);
  EXPECT_NE(cut.find(R"("ts":40.000,"cat":"traced","name":"main")"), std::string::npos) << cut;
  EXPECT_NE(cut.find(R"("ts":42.000,"cat":"traced","name":"main","args":{"closing":"at-end"})"),
            std::string::npos)
      << cut;
  EXPECT_EQ(count(cut, R"("ph":"B")"), count(cut, R"("ph":"E")"));
  const std::string limited = convert(traced.path(), {"--limit", "20"}, output);
  EXPECT_LE(count(limited, R"("ph":"[BE]")"), 20U);
  EXPECT_EQ(count(limited, R"("ph":"B")"), count(limited, R"("ph":"E")"));
}

TEST(TraceViews, report_has_tables_of_functions_and_threads) {
  const TracedRun traced;
  const Outcome json = run({SP_PROGRAM, "report", "--trace", traced.path(), "--json"});
  ASSERT_EQ(json.exit_status(), 0) << json.text();
  const auto table = nlohmann::json::parse(json.out, nullptr, false);
  ASSERT_TRUE(table.is_object()) << json.out;
  EXPECT_EQ(table.at("calls"), kCalls);
  EXPECT_EQ(table.at("rows").at(0).at("name"), "fib");
  EXPECT_EQ(table.at("rows").at(0).at("calls"), kCalls - 1);
  EXPECT_EQ(table.at("rows").at(0).at("total_ns"), 81'000);
  EXPECT_EQ(table.at("rows").at(0).at("max_ns"), 81'000);
  EXPECT_EQ(table.at("rows").at(1).at("self_ns"), 2'000);
  const Outcome text =
      run({SP_PROGRAM, "report", "--trace", traced.file(), "--sort", "max", "--by-thread"});
  EXPECT_EQ(text.exit_status(), 0) << text.text();
  EXPECT_NE(text.out.find("fib (4711)"), std::string::npos) << text.out;
}

TEST(TraceViews, report_prints_the_calls_in_the_order_of_time) {
  const TracedRun traced;
  const Outcome graph = run({SP_PROGRAM, "report", "--trace", "--graph", traced.path()});
  EXPECT_EQ(run({SP_PROGRAM, "replay", traced.path()}).out, graph.out);
  ASSERT_EQ(graph.exit_status(), 0) << graph.text();
  EXPECT_EQ(count(graph.out, "fib\\(\\)(;| \\{)"), kCalls - 1U);
  EXPECT_EQ(count(graph.out, "\\{\n"), count(graph.out, "\\} /\\*"));
  const Outcome cut =
      run({SP_PROGRAM, "report", "--trace", "--graph", traced.path(), "--limit", "10"});
  EXPECT_NE(cut.err.find("the trace goes on: --limit 10 is reached"), std::string::npos) << cut.err;
}

TEST(TraceViews, info_names_the_trace) {
  const TracedRun traced;
  const Outcome outcome = run({SP_PROGRAM, "info", traced.file(), "--json"});
  ASSERT_EQ(outcome.exit_status(), 0) << outcome.text();
  const auto json = nlohmann::json::parse(outcome.out, nullptr, false);
  ASSERT_TRUE(json.is_object()) << outcome.out;
  EXPECT_EQ(json.at("trace").at("events"), 2 * kCalls);
  EXPECT_EQ(json.at("trace").at("lost"), 0);
}

TEST(TraceViews, damage_is_said_and_what_stands_before_it_is_converted) {
  const TracedRun traced;
  std::filesystem::resize_file(traced.file(), std::filesystem::file_size(traced.file()) - 50);
  const Outcome outcome = run({SP_PROGRAM, "convert", traced.file(), "-f", "perfetto"});
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_NE(outcome.err.find("trace.sp is cut at byte "), std::string::npos) << outcome.err;
}

TEST(TraceViews, spoors_files_of_a_folder_are_one_trace) {
  constexpr std::uint64_t kOuter = 0x1234'0000'0000'0000;
  const TempDir directory;
  profiler::test::SpoorBytes first{.run = 0xAB, .steady_ns = 9'000};
  profiler::test::SpoorBytes second{.is_big = true, .is_packed = true, .run = 0xAB};
  second.steady_ns = 20'000;
  first.events = {{1'000, kOuter, 1}, {2'000, kOuter + 1, 1}, {8'000, kOuter + 1, 2}};
  second.events = {{10'000, kOuter + 1, 1}, {15'000, kOuter + 1, 2}, {19'000, kOuter, 2}};
  std::filesystem::create_directory(directory / "traces");
  write_file(directory / "traces/1.spoor_trace", second.text());
  write_file(directory / "traces/2.spoor_trace", first.text());
  write_file(directory / "demo.spoor_symbols",
             profiler::test::spoor_symbols({{kOuter, "outer", "outer()", "a.cc", "/src", 1},
                                            {kOuter + 1, "inner", "inner()", "a.cc", "/src", 2}}));
  const Words symbols = {"--symbols", directory / "demo.spoor_symbols"};
  const std::string json = convert(directory / "traces", symbols, directory / "x.trace.json");
  EXPECT_EQ(count(json, R"("ph":"B".*"name":"inner)"), 2U) << json;
  EXPECT_NE(json.find(R"("ph":"E","pid":4711,"tid":1,"ts":18.000)"), std::string::npos) << json;
  EXPECT_EQ(convert(directory / "traces", symbols, directory / "x.xray").size(), 32U + 3 * 64U);
  for (const std::string format : {"perfetto", "speedscope"}) {
    const Outcome outcome = run({SP_PROGRAM, "convert", directory / "traces/1.spoor_trace",
                                 directory / "traces/2.spoor_trace", "-f", format});
    EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
    EXPECT_NE(outcome.err.find(format + ": traced, 6 begins and ends"), std::string::npos)
        << outcome.err;
    EXPECT_NE(outcome.err.find("2 functions have no names; give"), std::string::npos);
  }
  write_file(directory / "traces/1.spoor_trace", second.text().substr(0, 70));
  const Outcome damaged =
      run({SP_PROGRAM, "convert", directory / "traces/1.spoor_trace", "-f", "chrome"});
  EXPECT_EQ(damaged.exit_status(), 125);
  EXPECT_EQ(count(damaged.err, "\n"), 1U) << damaged.err;
  EXPECT_NE(damaged.err.find("is damaged: its block of snappy"), std::string::npos) << damaged.err;
}

TEST(TraceViews, what_has_no_trace_is_told_apart) {
  const TracedRun traced;
  const Outcome folded = run({SP_PROGRAM, "convert", traced.file(), "-f", "folded"});
  EXPECT_EQ(folded.exit_status(), 125);
  EXPECT_NE(folded.err.find("is a trace, so nothing for folded; its formats: perfetto, "),
            std::string::npos)
      << folded.err;
  std::filesystem::remove(traced.file());
  for (const Words& words :
       {Words{"convert", traced.path(), "-f", "xray"}, Words{"report", "--trace", traced.path()}}) {
    Words all = {SP_PROGRAM};
    all.insert(all.end(), words.begin(), words.end());
    const Outcome outcome = run(all);
    EXPECT_EQ(outcome.exit_status(), 125);
    EXPECT_NE(outcome.err.find("(no trace.sp)"), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace sp::end_to_end
