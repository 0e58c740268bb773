// --tree --emit: its calls beside exact counts, and what the reader gets of the ways in which
// programs end.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "end_to_end/emit_reader.h"
#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

using nlohmann::json;

class TreeBesideSingle : public testing::TestWithParam<Words> {};

TEST_P(TreeBesideSingle, has_the_same_calls) {
  Words program{target("trace_ways")};
  program.insert(program.end(), GetParam().begin(), GetParam().end());
  const TempDir treed;
  const TempDir counted;
  const auto tree = profile(treed, {"--tree", "-a"}, program);
  const auto single = profile(counted, {"--single"}, program);
  std::uint64_t calls = 0;
  for (const FunctionRow& row : tree.files.functions()) {
    if (row.calls > 0) {
      EXPECT_EQ(row.calls, single.files.calls_of(row.function, "trace_ways")) << row.function;
    }
    calls += row.calls;
  }
  EXPECT_GT(calls, 5U) << tree.outcome.text();
  const json file = json::parse(read_file(treed / "run/tree.json"), nullptr, false);
  ASSERT_TRUE(file.is_object()) << tree.outcome.text();
  EXPECT_EQ(file["calls"]["kind"], "exact");
  EXPECT_EQ(file["calls"]["total"], calls);
}

INSTANTIATE_TEST_SUITE_P(Ways, TreeBesideSingle,
                         testing::Values(Words{"throw"}, Words{"threads", "12"}),
                         [](const auto& way) { return way.param[0]; });

/// The events among the lines that a reader has got of a run.
struct Emitted {
  Outcome outcome;
  std::vector<json> lines;
  json event;  // the first one with a signal
};

Emitted emit(const Words& program) {
  const TempDir directory;
  EmitReader reader(directory, "all");
  auto run =
      profile(directory, {"--tree", "-a", "--emit", "unix:" + (directory / "socket")}, program);
  (void)reader.sums();  // it has ended
  Emitted emitted{std::move(run.outcome), reader.lines(), json::object()};
  for (const json& line : emitted.lines) {
    if (emitted.event.empty() && line["type"] == "event" && line["data"].contains("signal")) {
      emitted.event = line["data"];
    }
  }
  if (can_check_schema()) {
    EXPECT_EQ(schema_error(reader), "");
  }
  return emitted;
}

/// The functions of a stack in an event, innermost first.
Words names_in(const json& stack) {
  Words names;
  for (const json& call : stack) {
    names.push_back(call.value("name", ""));
  }
  return names;
}

bool has(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

struct Way {
  std::string how;
  int signal;
  Words innermost;
  std::string caller;
};

class EmittedCrash : public testing::TestWithParam<Way> {};

TEST_P(EmittedCrash, has_the_names_of_the_calls_that_led_to_it) {
  if (!has_program("python3")) {
    GTEST_SKIP() << "needs python3";
  }
  const Way& way = GetParam();
  const Emitted emitted = emit({target("crash_ways"), way.how});
  EXPECT_EQ(emitted.outcome.signal(), way.signal) << emitted.outcome.text();
  ASSERT_TRUE(emitted.event.contains("stackTrace")) << emitted.outcome.text();
  EXPECT_EQ(emitted.event["signal_number"], way.signal);
  const Words names = names_in(emitted.event["stackTrace"]);
  ASSERT_GE(names.size(), way.innermost.size());
  EXPECT_TRUE(std::equal(way.innermost.begin(), way.innermost.end(), names.begin()))
      << emitted.event["stackTrace"];
  EXPECT_TRUE(has(names, way.caller)) << emitted.event["stackTrace"];
  EXPECT_EQ(emitted.event["threads"].size(), way.how == "thread" ? 3U : 0U);
}

INSTANTIATE_TEST_SUITE_P(
    Ways, EmittedCrash,
    testing::Values(Way{"leaf", SIGSEGV, {"leaf", "middle", "main"}, "main"},
                    Way{"abort", SIGABRT, {}, "give_up"},
                    Way{"overflow", SIGSEGV, {"overflow"}, "overflow"},
                    Way{"thread", SIGSEGV, {"leaf", "middle", "crash_in_thread"}, "middle"},
                    Way{"handler", SIGSEGV, {}, "middle"}),
    [](const auto& way) { return way.param.how; });

TEST(Emit, has_no_stack_of_a_program_that_was_killed) {
  if (!has_program("python3")) {
    GTEST_SKIP() << "needs python3";
  }
  const Emitted emitted = emit({target("dies"), "kill"});
  EXPECT_EQ(emitted.outcome.signal(), SIGKILL) << emitted.outcome.text();
  EXPECT_EQ(emitted.event.value("signal", ""), "SIGKILL");
  EXPECT_TRUE(emitted.event["stackTrace"].is_null()) << emitted.event;
}

TEST(Emit, tells_the_status_last) {
  if (!has_program("python3")) {
    GTEST_SKIP() << "needs python3";
  }
  const Emitted emitted = emit({target("dies"), "exit", "9"});
  EXPECT_EQ(emitted.outcome.exit_status(), 9) << emitted.outcome.text();
  ASSERT_FALSE(emitted.lines.empty());
  EXPECT_EQ(emitted.lines.back()["data"], json({{"exit", 9}}));
}

}  // namespace
}  // namespace sp::end_to_end
