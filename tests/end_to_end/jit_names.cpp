// Code of JIT compilers has the names and lines that these tell perf.
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

std::string milliseconds() { return std::to_string(800 * patience_factor()); }

TEST(JitNames, come_from_nodes_perf_map_or_jitdump) {
  if (!has_program("node")) {
    GTEST_SKIP() << "node is not installed";
  }
  for (const std::string option : {"--perf-basic-prof", "--perf-prof"}) {
    const TempDir directory;
    write_file(directory / "a.js",
               "function hot_function(n) {\n"
               "  let s = 0;\n"
               "  for (let i = 0; i < n; i++) s += i % 7;\n"
               "  return s;\n"
               "}\n"
               "for (let k = 0; k < 300; k++) hot_function(3000000);\n");
    StartOptions start;
    start.input = "";
    start.directory = directory.path();
    const auto run = profile(directory, {}, {"node", option, "a.js"}, start);
    ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
    std::uint64_t hot = 0;
    for (const FunctionRow& row : run.files.functions()) {
      if (row.function.find("hot_function") != std::string::npos) {
        hot += row.self;
        // node 20 often writes garbage instead of the file's name.
        EXPECT_TRUE(row.source.empty() || row.source.find("/a.js:") != std::string::npos);
      }
    }
    EXPECT_GT(hot, run.files.samples() / 2) << option << run.outcome.text();
  }
}

TEST(JitNames, are_of_the_function_that_was_there_when_the_sample_was_taken) {
  const TempDir directory;
  // Seldom enough for the same rate from the beginning to the end.
  const auto run = profile(directory, {"-n", "-i", "2ms"},
                           {target("writes_jitdump"), directory.path(), milliseconds()});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_EQ(run.outcome.out, "done\n");
  const auto samples = run.files.samples();
  ASSERT_GT(samples, 100U);
  // Each runs for half of the time. On a busy machine they wait for a CPU for parts of it, which
  // are not alike; named by the wrong one's record, one of them would have none.
  std::uint64_t named = 0;
  for (const char* const name : {"jitted_first", "jitted_second"}) {
    EXPECT_GT(run.files.self_of(name), samples / 20) << run.outcome.text();
    named += run.files.self_of(name);
  }
  EXPECT_GT(named, samples * 8 / 10) << run.outcome.text();
  for (const FunctionRow& row : run.files.functions()) {
    if (row.function.starts_with("jitted_")) {
      EXPECT_EQ(row.source, "generated.src:7");
      EXPECT_EQ(row.module, "[jit]");
    }
  }
}

TEST(JitNames, are_in_dumps_of_a_running_process) {
  const TempDir directory;
  Running program({target("writes_jitdump"), directory.path(), "20000"});
  const std::string dump = directory / ("jit-" + std::to_string(program.pid()) + ".dump");
  ASSERT_TRUE(eventually([&] { return ::access(dump.c_str(), R_OK) == 0; }));
  EXPECT_TRUE(eventually([&] {
    const Outcome outcome = run({SP_PROGRAM, "dump", "-p", std::to_string(program.pid())});
    return outcome.out.find("jitted_first") != std::string::npos &&
           outcome.out.find("generated.src:7") != std::string::npos;
  }));
}

TEST(JitNames, are_in_live_tables) {
  const TempDir directory;
  Running program({target("writes_jitdump"), directory.path(), "20000"});
  const std::string dump = directory / ("jit-" + std::to_string(program.pid()) + ".dump");
  ASSERT_TRUE(eventually([&] { return ::access(dump.c_str(), R_OK) == 0; }));
  EXPECT_TRUE(eventually([&] {
    const Outcome outcome = run({SP_PROGRAM, "top", "--once", "-p", std::to_string(program.pid())});
    return outcome.out.find(" jitted_first  [jit]\n") != std::string::npos;
  }));
}

TEST(JitNames, are_not_believed_from_another_users_file) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can give a file away";
  }
  const TempDir directory;
  Running program({target("writes_jitdump"), directory.path(), "20000"});
  const std::string dump = directory / ("jit-" + std::to_string(program.pid()) + ".dump");
  ASSERT_TRUE(eventually([&] { return ::access(dump.c_str(), R_OK) == 0; }));
  ASSERT_EQ(::chown(dump.c_str(), 12345, 12345), 0);
  const auto run =
      profile(directory, {"-n", "-d", "300ms", "-p", std::to_string(program.pid())}, {});
  EXPECT_EQ(run.files.total_of("jitted_first"), 0U) << run.outcome.text();
  EXPECT_GT(run.files.samples(), 0U);
}

}  // namespace
}  // namespace sp::end_to_end
