// --via, --xray-id, ctl patch and unpatch: functions that are traced for what compilers left in
// them.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "arch/native.h"
#include "end_to_end/places_support.h"
#include "end_to_end/profiled.h"
#include "end_to_end/table_rows.h"
#include "end_to_end/trace_client.h"

namespace sp::end_to_end {
namespace {

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

// Its code holds gates, which stay: so it is not read again when it has written to its sleds.
TEST(Places, a_static_program_that_writes_to_its_sleds_is_not_said_to_be_traced_whole) {
  const TempDir directory;
  Words compiler = kXray;
  compiler.emplace_back("-static");
  const std::string program = build(directory, compiler, kProgram);
  if (program.empty()) {
    GTEST_SKIP() << "no clang with -fxray-instrument and -static";
  }
  const Calls calls =
      traced(directory, {"-a", "--via", "xray"}, program, {"XRAY_OPTIONS=patch_premain=true"});
  const nlohmann::json trace =
      nlohmann::json::parse(read_file(directory / "run/run.json")).at("trace");
  ASSERT_NE(calls, (Calls{{"fib returned", 41},
                          {"hot returned", 50000},
                          {"leaf returned", 200},
                          {"main returned", 1},
                          {"plain returned", 200}}));
  EXPECT_EQ(trace.at("kind"), "exact-until");
  EXPECT_GE(trace.at("functions_overwritten"), 4U);
  std::size_t overwritten = 0;
  for (const TableRow& row : table_rows(read_file(directory / "run/symbols.tsv"))) {
    overwritten += row.at("reason").starts_with("overwritten:") ? 1 : 0;
  }
  EXPECT_EQ(overwritten, trace.at("functions_overwritten"));
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
  if (!arch::Native::kHasCounterSegment) {
    GTEST_SKIP() << "copies write no events on this CPU";
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
      {"cyg", {"gcc", "-O1", "-fno-inline", "-finstrument-functions", "-static"}},
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
    const Outcome named =
        run(superprofiler(directory, {"--trace", "--xray-id", "program:99"}, {sleds}));
    EXPECT_EQ(named.exit_status(), 2) << named.text();
    EXPECT_NE(named.err.find("has the ids 1 to 5, and not 99"), std::string::npos) << named.err;
  }
}

}  // namespace
}  // namespace sp::end_to_end
