// --trace against others who count the same calls: uftrace, and the exact counts of --single.
#include "end_to_end/trace_oracles.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace sp::end_to_end {
namespace {

using Closings = std::map<std::string, std::uint64_t>;

/// Calls as `uftrace report` counts them. It leaves out those that longjmp has left.
Counts uftrace_report(const TempDir& directory) {
  const Outcome shown = run({"uftrace", "report", "-d", directory / "data", "--no-libcall", "-f",
                             "call", "-s", "func", "--demangle=full"});
  EXPECT_EQ(shown.exit_status(), 0) << shown.text();
  Counts calls;
  std::istringstream lines(shown.out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::uint64_t number = 0;
    std::string name;
    if (words >> number && std::getline(words >> std::ws, name)) {
      calls[name] += number;
    }
  }
  return calls;
}

/// The functions that `uftrace dump` has entries of, in their order.
std::vector<std::string> uftrace_entries(const TempDir& directory) {
  const Outcome shown =
      run({"uftrace", "dump", "-d", directory / "data", "--demangle=full", "--no-libcall"});
  EXPECT_EQ(shown.exit_status(), 0) << shown.text();
  const std::string mark = "[entry] ";
  std::vector<std::string> names;
  std::istringstream lines(shown.out);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t from = line.find(mark);
    const std::size_t to = line.rfind('(', line.rfind(") depth:"));  // of the address
    if (from != std::string::npos && to != std::string::npos) {
      names.push_back(line.substr(from + mark.size(), to - from - mark.size()));
    }
  }
  return names;
}

/// The functions of a run's calls, in the order in which these began.
std::vector<std::string> traced_entries(const TempDir& directory) {
  const std::string path = directory / "calls.json";
  const Outcome made = run({SP_PROGRAM, "convert", directory / "run", "-f", "chrome", "-o", path});
  EXPECT_EQ(made.exit_status(), 0) << made.text();
  std::vector<std::string> names;
  const auto json = nlohmann::json::parse(read_file(path), nullptr, false);
  for (const auto& event : json.value("traceEvents", nlohmann::json::array())) {
    if (event.at("ph") == "B") {
      names.push_back(event.at("name"));
    }
  }
  return names;
}

/// The calls are those of uftrace, which has the functions of `own`, and the program prints what it
/// prints without us. Returns those of --trace -a.
std::map<std::string, Calls> calls_as_of_uftrace(const TempDir& directory,
                                                 const std::string& program,
                                                 const std::set<std::string>& own) {
  const Words record{"uftrace", "record", "--no-event", "-d", directory / "data", program};
  const Outcome recorded = run(record, in_directory(directory));
  EXPECT_EQ(recorded.exit_status(), 0) << recorded.text();
  const Counts uftrace = uftrace_report(directory);
  for (const std::string& function : own) {
    EXPECT_TRUE(uftrace.contains(function)) << function;
  }
  TracedProgram traced;
  for (const Words& options : {Words{}, Words{"-a"}}) {
    SCOPED_TRACE(options.empty() ? "--trace" : "--trace -a");
    traced = trace(directory, options, program);
    EXPECT_EQ(traced.out, recorded.out);
    for (const auto& [function, calls] : uftrace) {
      const auto found = traced.calls.find(function);
      EXPECT_EQ(found == traced.calls.end() ? 0 : found->second.calls, calls) << function;
    }
  }
  return traced.calls;
}

void expect_calls_of_single(const std::map<std::string, Calls>& traced, const Counts& single) {
  for (const auto& [function, calls] : traced) {
    const auto found = single.find(function);
    EXPECT_EQ(calls.calls, found == single.end() ? 0 : found->second) << function;
  }
}

/// That is not installed; "": all are.
std::string missing(const Words& programs) {
  for (const std::string& program : programs) {
    if (!has_program(program)) {
      return program;
    }
  }
  return "";
}

class TraceOracles : public testing::TestWithParam<Way> {};

TEST_P(TraceOracles, count_calls_of_c_as_uftrace_and_single_do) {
  if (const std::string program = missing({"uftrace", "gcc"}); !program.empty()) {
    GTEST_SKIP() << program << " is not installed";
  }
  const TempDir directory;
  Words compiler{"gcc", "-pg", "-pthread"};
  compiler.insert(compiler.end(), GetParam().options.begin(), GetParam().options.end());
  const std::string program = compile(directory, compiler, "calls.c");
  const auto calls = calls_as_of_uftrace(
      directory, program,
      {"at_exit", "before_main", "by_pointer", "calls_hot", "compare", "ends_chain", "even", "fib",
       "hot", "in_thread", "jumps_on", "main", "odd", "on_signal", "sets_jump"});
  ASSERT_TRUE(calls.contains("fib") && calls.contains("jumps_back"));
  EXPECT_EQ(calls.at("fib").closings, (Closings{{"returned", 41}}));
  EXPECT_EQ(calls.at("hot").closings, (Closings{{"returned", 1600}}));
  EXPECT_EQ(calls.at("jumps_back").closings, (Closings{{"unwound", 10}}));
  expect_calls_of_single(calls, single_calls(directory, program));
}
INSTANTIATE_TEST_SUITE_P(Optimised, TraceOracles,
                         testing::Values(Way{"not", {"-O0"}},
                                         Way{"without_jumps",
                                             {"-O2", "-fno-inline", "-fno-optimize-sibling-calls"}},
                                         Way{"fully", {"-O2"}}),
                         name_of_way);

class TraceOfExceptions : public testing::TestWithParam<Way> {};

TEST_P(TraceOfExceptions, has_the_calls_that_uftrace_has_in_their_order) {
  if (const std::string program = missing({"uftrace", "g++"}); !program.empty()) {
    GTEST_SKIP() << program << " is not installed";
  }
  const TempDir directory;
  const auto calls = calls_as_of_uftrace(
      directory,
      compile(directory, {"g++", "-std=c++17", "-O1", GetParam().options[0]}, "throws.cpp"),
      {"main", "ways::leaf(long)", "ways::throws(int)", "ways::passes(int)", "ways::cleans(int)",
       "ways::catches(int)", "ways::rethrows(int)", "ways::catches_rethrown(int)",
       "ways::throws_deep(int)", "ways::catches_deep()", "ways::Guard::Guard(long)",
       "ways::Guard::~Guard()", "ways::Derived::answer(long)", "int ways::twice<int>(int)",
       "double ways::twice<double>(double)"});
  ASSERT_TRUE(calls.contains("ways::throws_deep(int)") && calls.contains("ways::cleans(int)"));
  EXPECT_EQ(calls.at("ways::throws_deep(int)").closings, (Closings{{"unwound", 41}}));
  for (const char* const passed : {"ways::throws(int)", "ways::passes(int)"}) {
    EXPECT_EQ(calls.at(passed).closings.at("unwound"), 7U) << passed;
  }
  EXPECT_EQ(calls.at("ways::cleans(int)").closings.at("unwound"), 5U);
  EXPECT_EQ(calls.at("ways::rethrows(int)").closings.at("unwound"), 2U);

  const Counts reported = uftrace_report(directory);
  const auto is_other = [&](const std::string& name) { return !reported.contains(name); };
  std::vector<std::string> entries = uftrace_entries(directory);
  std::vector<std::string> traced = traced_entries(directory);
  std::erase_if(entries, is_other);
  std::erase_if(traced, is_other);
  EXPECT_GT(entries.size(), 150U);
  EXPECT_EQ(traced, entries);
}
INSTANTIATE_TEST_SUITE_P(BuiltWith, TraceOfExceptions,
                         testing::Values(Way{"pg", {"-pg"}},
                                         Way{"functions", {"-finstrument-functions"}}),
                         name_of_way);

// What throws is a part of this program.
TEST(TraceOfThrows, has_the_calls_of_single) {
  if (!has_program("g++")) {
    GTEST_SKIP() << "g++ is not installed";
  }
  const TempDir directory;
  const std::string program = compile(
      directory, {"g++", "-std=c++17", "-O2", "-static-libstdc++", "-static-libgcc"}, "throws.cpp");
  const Counts single = single_calls(directory, program);
  for (const Words& options : {Words{}, Words{"-a"}}) {
    SCOPED_TRACE(options.empty() ? "--trace" : "--trace -a");
    const TracedProgram traced = trace(directory, options, program);
    expect_calls_of_single(traced.calls, single);
    for (const auto& [function, calls] : single) {
      if (function.find("ways::") != std::string::npos && !function.ends_with("[clone .cold]")) {
        EXPECT_TRUE(traced.calls.contains(function)) << function << ": " << calls << " calls";
      }
    }
    for (const char* const needed :
         {"ways::throws_deep(int)", "_Unwind_RaiseException", "__cxa_throw"}) {
      EXPECT_TRUE(traced.calls.contains(needed)) << needed;
    }
  }
}

}  // namespace
}  // namespace sp::end_to_end
