// Functions that are traced for what compilers left in them, when their places come and go while
// the program runs.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "end_to_end/places_support.h"
#include "end_to_end/profiled.h"
#include "end_to_end/table_rows.h"
#include "end_to_end/trace_client.h"

namespace sp::end_to_end {
namespace {

TEST(Places, what_a_library_does_not_have_is_said) {
  const TempDir directory;
  const std::string program = build(directory, kXray, kProgram);
  if (program.empty()) {
    GTEST_SKIP() << "no clang with -fxray-instrument";
  }
  const auto says = [&](const Words& options, int status, const std::string& text) {
    const Outcome outcome = run(superprofiler(directory, options, {program}));
    EXPECT_EQ(outcome.exit_status(), status) << outcome.text();
    EXPECT_NE(outcome.err.find(text), std::string::npos) << outcome.err;
  };
  says({"--trace", "--xray-id", "nope.so:1"}, 2,
       "--xray-id: nope.so is not traced; add --only-instrument-execs nope.so");
  says({"--trace", "--overwrite", "--via", "cyg", "--only-instrument-execs", "libc.so.6"}, 0,
       "no function was traced: ");
}

TEST(Places, a_call_that_is_open_when_its_places_go_ends_there) {
  const TempDir directory;
  const std::string program = build(directory, kXray, R"(
#include <unistd.h>
__attribute__((noinline)) long waits(void) { char byte; return read(0, &byte, 1); }
__attribute__((noinline)) long next(void) { char byte; return read(0, &byte, 1); }
int main(void) {
  write(1, "ready\n", 6);
  while (next() == 1) waits();
}
)");
  if (program.empty()) {
    GTEST_SKIP() << "no clang with -fxray-instrument";
  }
  const std::string id = xray_ids(program)["waits"];
  Running tracer(superprofiler(
      directory, {"--trace", "--xray-id", id, "--control", directory / "control"}, {program}));
  ASSERT_TRUE(tracer.says("ready"));
  const Client client = client_of(directory / "control");
  tracer.write_input("n");
  ASSERT_TRUE(eventually([&] { return client.tell("status").value("events", 0) == 1; }));
  EXPECT_EQ(client.tell("unpatch " + id)["functions"], 1);
  tracer.write_input("w");
  EXPECT_EQ(client.tell("patch " + id)["functions"], 1);
  tracer.write_input("nw");
  tracer.close_input();
  EXPECT_EQ(tracer.wait().exit_status(), 0);
  auto calls = closings_in(directory / "run");
  EXPECT_EQ(calls["waits at-end"], 1U);
  EXPECT_EQ(calls["waits unwound"], 0U);
  // There was a time in which it was not counted.
  const std::string functions = read_file(directory / "run/functions.tsv");
  const auto row = functions.find("\twaits\t");
  ASSERT_NE(row, std::string::npos) << functions;
  const std::string line = functions.substr(row, functions.find('\n', row) - row);
  EXPECT_NE(line.find("until:"), std::string::npos) << line;
}

// When its runtime writes to the sleds, the function leaves its copy.
TEST(Places, calls_in_copies_that_the_program_patches_itself_return) {
  const TempDir directory;
  const std::string program = build(directory, kXray, R"(
#include <stdio.h>
int __xray_patch(void);
int __xray_unpatch(void);
__attribute__((noinline)) int hot(int x) { __asm__ volatile(""); return x + 1; }
int main(void) {
  int sum = 0;
  for (int round = 0; round < 6; ++round) {
    if (round % 2 == 1) __xray_patch(); else __xray_unpatch();
    for (int i = 0; i < 500; ++i) sum += hot(i);
  }
  puts(sum > 0 ? "13 59900" : "");
}
)");
  if (program.empty()) {
    GTEST_SKIP() << "no clang with -fxray-instrument";
  }
  const std::string id = xray_ids(program)["hot"];
  EXPECT_EQ(traced(directory, {"--xray-id", id}, program), (Calls{{"hot returned", 3000}}));
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
