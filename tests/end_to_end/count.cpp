// Calls of functions, against a program with known ones.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>

#include "end_to_end/support.h"

namespace sp::end_to_end {
namespace {

using nlohmann::json;

/// The last table of a run with --json.
json table_in(const std::string& text) {
  std::istringstream lines(text);
  json last;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('{')) {
      last = json::parse(line, nullptr, false);
    }
  }
  return last;
}

json function_in(const json& table, const std::string& name) {
  for (const json& function : table.value("functions", json::array())) {
    if (function["function"] == name) {
      return function;
    }
  }
  return json::object();
}

std::uint64_t calls_of(const json& table, const std::string& name) {
  return function_in(table, name).value("calls", std::uint64_t{0});
}

/// The groups of a function whose `key` is `value`.
std::uint64_t calls_in_group(const json& function, const std::string& key,
                             const std::string& value) {
  std::uint64_t calls = 0;
  for (const json& group : function.value("groups", json::array())) {
    if (group.value(key, "") == value) {
      calls += group["calls"].get<std::uint64_t>();
    }
  }
  return calls;
}

/// Counts while the program makes `rounds` rounds, and returns the table.
struct Counted {
  Outcome outcome;
  json table;
};
Counted count_launched(const TempDir& directory, Words options, const std::string& hots = "0",
                       int rounds = 1) {
  const std::string input = directory / "input";
  std::string lines;
  for (int i = 0; i < rounds; ++i) {
    lines += "x\n";
  }
  write_file(input, lines);
  Words words = {SP_PROGRAM, "count"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(),
               {"--json", "-o", directory / "table", "--", target("counted_calls"), hots});
  StartOptions start;
  start.input = input;
  Counted counted{run(words, start), {}};
  counted.table = table_in(read_file(directory / "table"));
  return counted;
}

TEST(Count, calls_of_a_launched_program_are_exact) {
  const TempDir directory;
  const auto [outcome, table] =
      count_launched(directory, {"/^(answer|half|pick|nap|hot)$/", "c:nanosleep"});
  EXPECT_EQ(outcome.exit_status(), 7) << outcome.text();
  EXPECT_EQ(outcome.out, "ready\nround\nright\n");
  EXPECT_EQ(calls_of(table, "answer"), 200U) << table;
  EXPECT_EQ(calls_of(table, "half"), 100U) << table;
  EXPECT_EQ(calls_of(table, "nap"), 12U) << table;
  EXPECT_EQ(calls_of(table, "nanosleep"), 12U) << table;
  EXPECT_EQ(calls_of(table, "pick"), 30U) << table;  // the variant, and not its resolver
  EXPECT_EQ(function_in(table, "answer")["kind"], "exact") << table;
}

TEST(Count, arguments_and_results_tell_calls_apart) {
  const TempDir directory;
  const auto [outcome, table] = count_launched(
      directory, {"answer", "--args", "arg2:s,arg1:d", "--ret", "d", "--if", "ret<0"});
  EXPECT_EQ(outcome.exit_status(), 7) << outcome.text();
  const json answer = function_in(table, "answer");
  EXPECT_EQ(answer["calls"], 20) << table;
  EXPECT_EQ(answer["all_calls"], 200) << table;
  EXPECT_EQ(calls_in_group(answer, "ret", "-1"), 20U) << table;
  EXPECT_EQ(calls_in_group(answer, "arg2", "\"other\""), 10U) << table;
  EXPECT_EQ(calls_in_group(answer, "arg2", "\"even\""), 10U) << table;
  EXPECT_EQ(calls_in_group(answer, "arg1", "30"), 2U) << table;
}

TEST(Count, callers_threads_and_doubles_tell_calls_apart) {
  const TempDir directory;
  const auto by_thread =
      count_launched(directory, {"answer", "half", "--args", "arg1:f", "--by", "caller,thread"});
  const json half = function_in(by_thread.table, "half");
  EXPECT_EQ(half["groups"].size(), 100U) << by_thread.table;
  EXPECT_EQ(calls_in_group(half, "arg1", "7"), 1U) << by_thread.table;
  EXPECT_EQ(half["groups"][0]["caller"].get<std::string>().rfind("round_of_calls+0x", 0), 0U)
      << by_thread.table;
  const json answer = function_in(by_thread.table, "answer");
  EXPECT_EQ(calls_in_group(answer, "caller", answer["groups"][0]["caller"]), 100U)
      << by_thread.table;
}

TEST(Count, histograms_are_of_durations_and_of_values) {
  const TempDir directory;
  const auto durations = count_launched(directory, {"nap", "--hist"});
  const json histogram = function_in(durations.table, "nap")["groups"][0]["histogram"];
  EXPECT_GE(histogram["p50"], 2'000'000) << durations.table;
  EXPECT_LT(histogram["p50"], 15'000'000) << durations.table;
  EXPECT_GE(histogram["max"], 20'000'000) << durations.table;
  EXPECT_GE(histogram["p90"], 20'000'000) << durations.table;
  const auto values = count_launched(
      directory, {"c:malloc", "--args", "arg1:u", "--hist", "--if", "arg1:u==54321"});
  const json sizes = function_in(values.table, "malloc");
  EXPECT_EQ(sizes["calls"], 40) << values.table;
  EXPECT_EQ(sizes["groups"][0]["histogram"]["max"], 54321) << values.table;
}

TEST(Count, millions_of_calls_are_counted_by_a_copy_or_until_they_cost_too_much) {
  const TempDir directory;
  const auto [outcome, table] = count_launched(directory, {"hot"}, "1000000");
  EXPECT_EQ(outcome.exit_status(), 7) << outcome.text();
  const json hot = function_in(table, "hot");
  if (hot["kind"] == "exact") {
    EXPECT_EQ(hot["calls"], 1'000'000) << table;
  } else {
    EXPECT_EQ(hot["kind"].get<std::string>().rfind("exact-until:", 0), 0U) << table;
    EXPECT_NE(outcome.err.find("-a keeps them"), std::string::npos) << outcome.err;
    EXPECT_LE(hot["calls"], 1'000'000) << table;
  }
}

TEST(Count, a_process_is_left_as_it_was) {
  Running program({target("counted_calls"), "100"});
  ASSERT_TRUE(program.says("ready\n"));
  const TempDir directory;
  Running count({SP_PROGRAM, "count", "answer", "pick", "c:malloc", "-p",
                 std::to_string(program.pid()), "-i", "100ms", "--json", "-o",
                 directory / "table"});
  // It sleeps in a read; it has breakpoints all the same.
  ASSERT_TRUE(eventually([&] { return changed_text(program.pid()) != ""; }));
  ASSERT_TRUE(eventually([&] { return read_file(directory / "table") != ""; }));
  program.write_input("x\n");
  ASSERT_TRUE(program.says("round\n"));
  count.signal(SIGINT);
  const Outcome outcome = count.wait();
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  const json table = table_in(read_file(directory / "table"));
  EXPECT_EQ(calls_of(table, "answer"), 200U) << table;
  EXPECT_EQ(calls_of(table, "pick"), 30U) << table;
  EXPECT_GE(calls_of(table, "malloc"), 40U) << table;
  EXPECT_EQ(function_in(table, "answer")["kind"].get<std::string>().rfind("exact-since:", 0), 0U)
      << table;
  EXPECT_EQ(what_was_left_behind(program.pid()), "");
  EXPECT_EQ(changed_text(program.pid()), "");
  program.close_input();
  EXPECT_EQ(program.wait().out, "ready\nround\nright\n");
}

TEST(Count, a_process_survives_its_death) {
  Running program({target("counted_calls"), "100"});
  ASSERT_TRUE(program.says("ready\n"));
  Running count({SP_PROGRAM, "count", "answer", "--ret", "d", "c:malloc", "-p",
                 std::to_string(program.pid())});
  ASSERT_TRUE(eventually([&] { return changed_text(program.pid()) != ""; }));
  program.write_input("x\n");
  count.signal(SIGKILL);
  (void)count.wait();
  EXPECT_TRUE(program.says("round\n"));
  EXPECT_TRUE(eventually([&] { return changed_text(program.pid()).empty(); }));
  program.close_input();
  EXPECT_EQ(program.wait().exit_status(), 7);
}

TEST(Count, what_no_function_is_called_is_a_usage_error) {
  Running program({target("counted_calls")});
  ASSERT_TRUE(program.says("ready\n"));
  const Outcome attached =
      run({SP_PROGRAM, "count", "c:mallok", "-p", std::to_string(program.pid())});
  EXPECT_EQ(attached.exit_status(), 2);
  EXPECT_NE(attached.err.find("near: malloc"), std::string::npos) << attached.err;
  const Outcome launched = run({SP_PROGRAM, "count", "anser", "--", target("counted_calls")});
  EXPECT_EQ(launched.exit_status(), 2);
  EXPECT_NE(launched.err.find("near: answer"), std::string::npos) << launched.err;
  EXPECT_EQ(launched.out, "");
}

TEST(Count, counts_mallocs_as_often_as_gdb_ignores_a_breakpoint) {
  if (!has_program("gdb")) {
    GTEST_SKIP() << "no gdb here (Debian package: gdb)";
  }
  // The loader has functions named malloc, too; __libc_malloc is the C library's alone.
  const Outcome ignored = run({"gdb",
                               "-nx",
                               "-batch",
                               "-ex",
                               "set breakpoint pending on",
                               "-ex",
                               "set startup-with-shell off",
                               "-ex",
                               "unset environment LINES",
                               "-ex",
                               "unset environment COLUMNS",
                               "-ex",
                               "break __libc_malloc",
                               "-ex",
                               "ignore 1 1000000000",
                               "-ex",
                               "run",
                               "-ex",
                               "info breakpoints",
                               "--args",
                               "/usr/bin/sort",
                               "/etc/passwd"});
  const std::string words = "breakpoint already hit ";
  const std::size_t at = ignored.out.find(words);
  ASSERT_NE(at, std::string::npos) << ignored.text();
  const std::uint64_t hits = std::stoull(ignored.out.substr(at + words.size()));
  const TempDir directory;
  const Outcome counted = run({SP_PROGRAM, "count", "c:malloc", "--json", "-o", directory / "table",
                               "--", "/usr/bin/sort", "/etc/passwd"});
  ASSERT_EQ(counted.exit_status(), 0) << counted.text();
  EXPECT_EQ(calls_of(table_in(read_file(directory / "table")), "malloc"), hits) << counted.text();
  EXPECT_GT(hits, 5U);
}

}  // namespace
}  // namespace sp::end_to_end
