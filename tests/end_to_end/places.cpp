// --via, --xray-id, ctl patch and unpatch: functions that are traced for what compilers left in
// them.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "arch/native.h"
#include "end_to_end/profiled.h"
#include "end_to_end/table_rows.h"
#include "end_to_end/trace_client.h"

namespace sp::end_to_end {
namespace {

constexpr const char* kProgram = R"(
#include <stdio.h>
#define CALLED __attribute__((noinline))
#ifndef ROUNDS
#define ROUNDS 50000
#endif
volatile unsigned long sink;
CALLED int leaf(int value) { return value * 3; }
CALLED int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
CALLED void hot(int value) { sink += value; }
__attribute__((no_instrument_function, noinline)) int plain(int value) { return value + 1; }
int main(void) {
  int sum = 0;
  for (int i = 0; i < ROUNDS; ++i) hot(i);
  for (int i = 0; i < 200; ++i) sum += plain(leaf(i));
  printf("%d %d\n", fib(7), sum);
}
)";
constexpr const char* kPrints = "13 59900\n";

const Words kXray{"clang", "-O1", "-fxray-instrument", "-fxray-instruction-threshold=1"};

/// gcc's -pg writes gmon.out there.
StartOptions in(const TempDir& directory, const Words& environment = {}) {
  StartOptions options;
  options.directory = directory.path();
  options.environment = environment;
  return options;
}

/// The program in `directory`, by the compiler and its options; "" if that cannot be.
std::string build(const TempDir& directory, Words compiler, const std::string& source) {
  if (!has_program(compiler.front())) {
    return "";
  }
  std::ofstream(directory / "program.c") << source;
  compiler.insert(compiler.end(),
                  {"-pthread", "-o", directory / "program", directory / "program.c"});
  const Outcome built = run(compiler, in(directory));
  return built.exit_status() == 0 ? directory / "program" : "";
}

/// id by function name, of superprofiler symbols.
std::map<std::string, std::string> xray_ids(const std::string& program) {
  std::map<std::string, std::string> ids;
  for (const auto& row : table_rows(run({SP_PROGRAM, "symbols", program}).out)) {
    ids[row.at("demangled_name")] = row.at("xray_id");
  }
  return ids;
}

using Calls = std::map<std::string, std::uint64_t>;

Calls traced(const TempDir& directory, Words options, const std::string& program,
             const Words& environment = {}) {
  options.insert(options.begin(), {"--trace", "--overwrite"});
  const Outcome outcome =
      run(superprofiler(directory, options, {program}), in(directory, environment));
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_EQ(outcome.out, kPrints);
  return closings_in(directory / "run");
}

TEST(Places, an_xray_id_alone_has_all_its_calls_and_no_other_function) {
  const TempDir directory;
  const std::string program = build(directory, kXray, kProgram);
  if (program.empty()) {
    GTEST_SKIP() << "no clang with -fxray-instrument";
  }
  auto ids = xray_ids(program);
  EXPECT_EQ(traced(directory, {"--xray-id", ids["hot"]}, program),
            (Calls{{"hot returned", 50000}}));
  EXPECT_EQ(traced(directory, {"--xray-id", ids["fib"] + ",program:" + ids["leaf"]}, program),
            (Calls{{"fib returned", 41}, {"leaf returned", 200}}));
  auto rows = table_rows(read_file(directory / "run/symbols.tsv"));
  Calls reasons;
  for (auto& row : rows) {
    ++reasons[row["reason"]];
  }
  EXPECT_EQ(reasons["default"], 2U);
  EXPECT_EQ(reasons["option:--xray-id"], 3U);  // hot, plain and main
}

// Its runtime writes to the sleds when we have breakpoints on them.
TEST(Places, sleds_that_the_program_switches_on_itself_are_traced_as_others) {
  const TempDir directory;
  const std::string program = build(directory, kXray, kProgram);
  if (program.empty()) {
    GTEST_SKIP() << "no clang with -fxray-instrument";
  }
  const Calls calls =
      traced(directory, {"-a", "--via", "xray"}, program, {"XRAY_OPTIONS=patch_premain=true"});
  EXPECT_EQ(calls, (Calls{{"fib returned", 41},
                          {"hot returned", 50000},
                          {"leaf returned", 200},
                          {"main returned", 1},
                          {"plain returned", 200}}));
}

TEST(Places, calls_are_not_said_to_be_exact_where_the_program_has_overwritten_breakpoints) {
  const TempDir directory;
  const std::string program = build(directory, kXray, kProgram);
  if (program.empty()) {
    GTEST_SKIP() << "no clang with -fxray-instrument";
  }
  const Outcome outcome = run(superprofiler(directory, {"-a"}, {program}),
                              in(directory, {"XRAY_OPTIONS=patch_premain=true"}));
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_EQ(outcome.out, kPrints);
  for (const TableRow& row : table_rows(read_file(directory / "run/functions.tsv"))) {
    if (row.at("function") == "main" || row.at("function") == "hot") {
      EXPECT_NE(row.at("calls_kind"), "exact") << row.at("calls");
    }
  }
}

TEST(Places, hot_functions_run_from_copies_whatever_place_chose_them) {
  if (!arch::Native::kHasCopies) {
    GTEST_SKIP() << "functions are not copied on this CPU";
  }
  const Words patchable{"gcc", "-O1", "-fpatchable-function-entry=5,2"};
  for (const auto& [via, compiler] :
       {std::pair("patchable", patchable), std::pair("xray", kXray)}) {
    const TempDir directory;
    Words much = compiler;
    much.emplace_back("-DROUNDS=300000");
    const std::string program = build(directory, much, kProgram);
    if (program.empty()) {
      continue;
    }
    Calls calls = traced(directory, {"-a", "--via", via}, program);
    EXPECT_EQ(calls["hot returned"], 300000U) << via;
    const auto run = RunFiles(directory / "run").run();
    EXPECT_GT(run.at("probes").at("copies").at("functions"), 0) << via;
    EXPECT_LT(run.at("probes").at("hits"), 100000) << via;
  }
}

TEST(Places, functions_are_traced_that_have_the_place) {
  struct Kind {
    const char* via;
    Words compiler;
  };
  std::vector<Kind> kinds{
      {"patchable", {"gcc", "-O1", "-fpatchable-function-entry=5,2"}},
      {"patchable", {"gcc", "-O1", "-fpatchable-function-entry=2", "-static"}},
      {"fentry", {"gcc", "-O1", "-pg"}},
      {"fentry", {"gcc", "-O1", "-pg", "-static"}},
      {"cyg", {"gcc", "-O1", "-fno-inline", "-finstrument-functions"}},
      {"cyg", {"gcc", "-O1", "-fno-inline", "-finstrument-functions", "-fno-plt"}},
  };
  if (std::string(arch::Native::kName) == "x86_64") {
    kinds.push_back({"fentry", {"gcc", "-O1", "-pg", "-mfentry"}});
    kinds.push_back(
        {"patchable", {"gcc", "-O1", "-fpatchable-function-entry=3", "-fcf-protection"}});
  }
  for (const Kind& kind : kinds) {
    const TempDir directory;
    Words compiler = kind.compiler;
    compiler.emplace_back("-DROUNDS=700");
    const std::string program = build(directory, compiler, kProgram);
    if (program.empty()) {
      GTEST_SKIP() << "gcc refuses " << kind.compiler.back();
    }
    auto calls = traced(directory, {"-a", "--via", kind.via}, program);
    EXPECT_EQ(calls["hot returned"], 700U) << kind.compiler.back();
    EXPECT_EQ(calls["fib returned"], 41U) << kind.compiler.back();
    EXPECT_EQ(calls["leaf returned"], 200U) << kind.compiler.back();
    EXPECT_EQ(calls["main returned"], 1U) << kind.compiler.back();
    // no_instrument_function is for -finstrument-functions and -pg alone.
    EXPECT_EQ(calls["plain returned"], kind.via == std::string("patchable") ? 200U : 0U);
  }
}

TEST(Places, what_the_program_does_not_have_is_refused_before_it_starts) {
  const TempDir directory;
  const std::string program = build(directory, {"gcc", "-O1", "-pg"}, kProgram);
  if (program.empty()) {
    GTEST_SKIP() << "no gcc";
  }
  const auto refused = [&](const Words& options, const std::string& says) {
    const Outcome outcome = run(superprofiler(directory, options, {program}));
    EXPECT_EQ(outcome.exit_status(), 2) << outcome.text();
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find(says), std::string::npos) << outcome.err;
  };
  refused({"--trace", "--via", "xray"}, "has no such place; it has calls of mcount (-pg)");
  refused({"--trace", "--xray-id", "3"}, "has no such place");
  refused({"--trace", "--via", "fentry", "--xray-id", "3"}, "leave out --via fentry");
  refused({"--trace", "--xray-id", "0"}, "'0' is no XRay id");
  refused({"--trace", "--xray-id", "5-3"}, "'5-3' is no XRay id");
  refused({"--via", "fentry"}, "--via is for --trace");
  refused({"--trace", "--via", "sled"}, "xray");
  const TempDir other;
  const std::string sleds = build(other, kXray, kProgram);
  if (!sleds.empty()) {
    const Outcome outcome =
        run(superprofiler(directory, {"--trace", "--xray-id", "2,99"}, {sleds}));
    EXPECT_EQ(outcome.exit_status(), 2) << outcome.text();
    EXPECT_NE(outcome.err.find("has the ids 1 to 5, and not 99"), std::string::npos) << outcome.err;
  }
}

TEST(Places, patching_and_unpatching_under_calling_threads_leaves_the_file_s_bytes) {
  constexpr int kRounds = 60;
  const TempDir directory;
  const std::string program =
      build(directory, kXray, read_file(SP_SOURCE_DIR "/tests/targets/switched_calls.c"));
  if (program.empty()) {
    GTEST_SKIP() << "no clang with -fxray-instrument";
  }
  auto ids = xray_ids(program);
  Running target({program, "8", "unmasked"});
  ASSERT_TRUE(target.says("ready"));
  Running tracer(
      superprofiler(directory, {"--trace", "--xray-id", ids["inner"], "--control",
                                directory / "control", "-p", std::to_string(target.pid())}));
  const Client client = client_of(directory / "control");
  ASSERT_TRUE(eventually([&] { return client.tell("status").value("events", 0) > 100; }));
  EXPECT_EQ(client.tell("unpatch 99")["ok"], false);
  EXPECT_EQ(client.tell("patch")["ok"], false);
  for (int round = 0; round < kRounds; ++round) {
    EXPECT_EQ(client.tell("unpatch " + ids["inner"])["functions"], 1);
    if (round % 10 == 0) {
      EXPECT_EQ(changed_text(target.pid()).find(program), std::string::npos) << round;
    }
    EXPECT_EQ(client.tell("patch " + ids["outer"] + " " + ids["inner"])["functions"], 2);
    EXPECT_NE(changed_text(target.pid()).find(program), std::string::npos) << round;
    EXPECT_EQ(client.tell("unpatch " + ids["outer"])["ok"], true);
  }
  EXPECT_EQ(client.tell("stop")["ok"], true);
  EXPECT_EQ(tracer.wait().exit_status(), 0);
  EXPECT_EQ(what_was_left_behind(target.pid()), "");
  target.close_input();
  EXPECT_EQ(target.wait().out, "ready\nright\n");
  auto calls = closings_in(directory / "run");
  EXPECT_GT(calls["inner returned"], 100U);
  EXPECT_EQ(calls["inner tail"] + calls["work returned"], 0U);
  std::map<std::string, std::string> reasons;
  for (const auto& row : table_rows(read_file(directory / "run/symbols.tsv"))) {
    reasons[row.at("demangled_name")] = row.at("reason");
  }
  EXPECT_EQ(reasons["outer"], "ctl:unpatch");
  EXPECT_EQ(reasons["inner"], "ctl:patch");
  EXPECT_EQ(reasons["work"], "option:--xray-id");
}

}  // namespace
}  // namespace sp::end_to_end
