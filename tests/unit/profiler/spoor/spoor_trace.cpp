#include "profiler/spoor/spoor_trace.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "profiler/trace/trace_names.h"
#include "profiler/trace/trace_walk.h"
#include "unit/profiler/recording/memory_sink.h"
#include "unit/profiler/spoor/spoor_bytes.h"

namespace sp::profiler {
namespace {

using test::bytes_of;
using test::SpoorBytes;
using test::SpoorCall;
using Files = std::map<std::string, std::string>;
using Lines = std::vector<std::string>;

constexpr std::uint64_t kA = 0x1111'0000'0000'0000;
constexpr std::uint64_t kB = 0x1111'0000'0000'0001;
constexpr std::uint64_t kC = 0x1111'0000'0000'0002;

SpoorCall in(std::int64_t ns, std::uint64_t function) { return {ns, function, 1}; }
SpoorCall out(std::int64_t ns, std::uint64_t function) { return {ns, function, 2}; }

class NamedCalls final : public CallVisitor {
 public:
  NamedCalls(const TraceReader& trace, Lines& lines) : trace_(trace), lines_(lines) {}
  void begin(const TracedCall& call) override { (void)call; }
  void end(const TracedCall& call) override {
    lines_.push_back(fmt::format("{}: {:{}}{} {}-{} {}", trace_.thread(call.thread)->name, "",
                                 call.depth, trace_function_name(trace_, call.function),
                                 call.begin_ns, call.end_ns, word(call.closing)));
  }

 private:
  const TraceReader& trace_;
  Lines& lines_;
};

struct Joined {
  SpoorSums sums;
  Lines calls;
  std::string error;
};

Joined joined(const Files& files, const std::string& symbols = "") {
  Joined result;
  SpoorSymbols known;
  EXPECT_EQ(known.add(symbols, "s"), "");
  std::vector<std::string> paths;
  for (const auto& [path, bytes] : files) {
    paths.push_back(path);
  }
  test::MemorySink sink;
  auto sums = write_spoor_trace(
      sink, paths,
      [&](const std::string& path) { return read_spoor_file(bytes_of(files.at(path)), path); },
      known);
  if (!sums) {
    result.error = sums.error().message();
    return result;
  }
  result.sums = std::move(*sums);
  std::istringstream stream(sink.text);
  auto reader = TraceReader::open(stream, "trace.sp");
  EXPECT_TRUE(reader);
  TraceWalk walk(*reader, {});
  NamedCalls calls(*reader, result.calls);
  walk.run(calls);
  return result;
}

std::string names() {
  return test::spoor_symbols({{kA, "_Z1av", "a()", "demo.cc", "/src", 3},
                              {kB, "_Z1bv", "b()", "demo.cc", "/src", 9},
                              {kB, "_Z2b2v", "b2()", "other.cc", "/src", 1}});
}

TEST(SpoorTrace, joins_the_files_of_a_thread_in_the_order_of_their_times) {
  const SpoorBytes first{.steady_ns = 200, .events = {in(100, kA), in(110, kB)}};
  const SpoorBytes second{.steady_ns = 300, .events = {out(150, kB), out(190, kA)}};
  SpoorBytes other{.thread = 5, .steady_ns = 300, .events = {in(120, kC), out(130, kC)}};
  // The names of files say nothing.
  const Joined trace =
      joined({{"z", first.text()}, {"a", second.text()}, {"m", other.text()}}, names());
  EXPECT_EQ(trace.calls,
            (Lines{"thread 1: [function 0x1111000000000002] 20-30 returned",
                   "thread 2:  b() or b2() 10-50 returned", "thread 2: a() 0-90 returned"}));
  EXPECT_EQ(trace.sums.files, 3U);
  EXPECT_EQ(trace.sums.threads, 2U);
  EXPECT_EQ(trace.sums.runs, 1U);
  EXPECT_EQ(trace.sums.functions, 3U);
  EXPECT_EQ(trace.sums.without_name, 1U);
}

TEST(SpoorTrace, closes_calls_by_order) {
  // b and c were left by an exception that a has caught.
  const SpoorBytes thrown{
      .events = {in(0, kA), in(1, kB), in(2, kC), in(3, kA), out(4, kA), out(9, kA)}};
  EXPECT_EQ(joined({{"x", thrown.text()}}, names()).calls,
            (Lines{"thread 1:    a() 3-4 returned",
                   "thread 1:   [function 0x1111000000000002] 2-9 unwound",
                   "thread 1:  b() or b2() 1-9 unwound", "thread 1: a() 0-9 returned"}));
  // What was entered before is the caller of all that came after.
  const SpoorBytes before{.events = {in(0, kA), out(5, kB), in(6, kA), out(7, kA), out(8, kC)}};
  EXPECT_EQ(joined({{"x", before.text()}}, names()).calls,
            (Lines{"thread 1:   a() 0-5 unwound", "thread 1:  b() or b2() 0-5 entered-before",
                   "thread 1:  a() 6-7 returned",
                   "thread 1: [function 0x1111000000000002] 0-8 entered-before"}));
}

TEST(SpoorTrace, keeps_runs_apart) {
  const SpoorBytes one{.run = 1, .events = {in(0, kA), out(9, kA)}};
  const SpoorBytes two{.run = 2, .events = {in(3, kA), out(4, kA)}};
  const Joined trace = joined({{"x", one.text()}, {"y", two.text()}}, names());
  EXPECT_EQ(trace.sums.runs, 2U);
  EXPECT_EQ(trace.calls, (Lines{"thread 2: a() 3-4 returned", "thread 1: a() 0-9 returned"}));
}

TEST(SpoorTrace, reads_what_is_good_and_says_what_is_not) {
  const SpoorBytes good{.events = {in(0, kA), {1, 7, 0x80000001U}, out(9, kA)}};
  const Joined trace = joined({{"good", good.text()}, {"bad", "nothing"}}, names());
  EXPECT_EQ(trace.calls, (Lines{"thread 1: a() 0-9 returned"}));
  ASSERT_EQ(trace.sums.damage.size(), 1U);
  EXPECT_NE(trace.sums.damage.front().find("bad is not a trace of Spoor's"), std::string::npos);
  EXPECT_NE(joined({{"bad", "nothing"}}).error.find("bad is not a trace"), std::string::npos);
}

TEST(SpoorTrace, bears_any_events) {
  SpoorBytes file;
  constexpr std::int64_t kFarthest = std::int64_t{1} << 62U;
  for (std::int64_t i = 0; i < 1000; ++i) {
    file.events.push_back({(i * i * 7919) % 1001 - 500 + (i % 97 == 0 ? kFarthest : 0),
                           static_cast<std::uint64_t>(i * i % 11),
                           static_cast<std::uint32_t>(i * i % 4)});
  }
  EXPECT_FALSE(joined({{"x", file.text()}}).calls.empty());
}

TEST(SpoorSymbols, are_read_with_any_damage) {
  const std::string good = names();
  for (std::size_t at = 0; at < good.size(); ++at) {
    SpoorSymbols cut;
    (void)cut.add(std::string_view(good).substr(0, at), "s");
    EXPECT_LE(cut.size(), 2U);
    for (const int change : {0x01, 0x80, 0xFF}) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ change);
      SpoorSymbols symbols;
      (void)symbols.add(bad, "s");
    }
  }
  SpoorSymbols symbols;
  EXPECT_EQ(symbols.add(good.substr(0, good.size() - 1), "s"),
            "s is damaged: not all functions have names");
  EXPECT_EQ(symbols.find(kA),
            (std::vector<SpoorSymbol>{{"/src/demo.ll", "_Z1av", "a()", "/src/demo.cc", 3}}));
  EXPECT_TRUE(symbols.find(99).empty());
}

}  // namespace
}  // namespace sp::profiler
