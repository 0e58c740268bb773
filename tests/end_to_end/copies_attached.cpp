// Programs that are attached to: their hot functions run from copies, too, though threads may be
// about to return from handlers to wherever they were interrupted before.
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdint>
#include <string>

#include "arch/native.h"
#include "end_to_end/probe_support.h"

namespace sp::end_to_end {
namespace {

TEST(CopiesAttached, threads_return_from_handlers_that_ran_before) {
  for (int round = 0; round < scaled(2); ++round) {
    Running program({target("in_handlers")});
    ASSERT_TRUE(program.says("ready"));
    const TempDir directory;
    Running profiler(superprofiler(
        directory, {"-q", "-F", "20", "--overhead", "0", "-p", std::to_string(program.pid())}));
    ASSERT_TRUE(eventually([&] { return status_of(program.pid(), "TracerPid") != "0"; }));
    program.write_input("\n");
    ASSERT_TRUE(program.says("back")) << program.err();
    profiler.signal(SIGINT);
    EXPECT_EQ(profiler.wait().exit_status(), 0);
    program.close_input();
    const Outcome outcome = program.wait();
    EXPECT_EQ(outcome.out, "ready\nback\nright\n") << outcome.text();
    EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
    const auto copies = RunFiles(directory / "run").run().at("probes").at("copies");
    if (arch::Native::kHasCopies && patience_factor() == 1) {  // else they work too little
      EXPECT_GE(copies.at("executions").get<std::uint64_t>(), 10'000U);
    }
  }
}

// Their counters were found by the gs segment, whose base is the program's own again.
TEST(CopiesAttached, threads_that_run_have_their_own_base_again) {
  Running program({target("tells_base"), "3"});
  ASSERT_TRUE(program.says("ready"));
  for (int round = 0; round < 2; ++round) {
    const TempDir directory;
    const Outcome outcome = run(
        superprofiler(directory, {"-q", "-a", "-d", "0.5s", "-p", std::to_string(program.pid())}));
    EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
    const auto copies = RunFiles(directory / "run").run().at("probes").at("copies");
    if (arch::Native::kHasCopies && patience_factor() == 1) {
      EXPECT_GE(copies.at("executions").get<std::uint64_t>(), 10'000U);
    }
  }
  program.write_input("\n");
  program.close_input();
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.out, "ready\nbase 0\nbase 0\nbase 0\nright\n") << outcome.text();
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
}

// A thread that sleeps when we detach keeps its counters' base.
TEST(CopiesAttached, a_base_that_was_left_with_a_sleeper_refuses_no_copies) {
  Running program({target("thread_sums"), "2", "1000000000000"});
  for (int round = 0; round < 4; ++round) {
    const TempDir directory;
    const Outcome outcome =
        run(superprofiler(directory, {"-a", "-d", "1s", "-p", std::to_string(program.pid())}));
    EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
    EXPECT_EQ(outcome.err.find("its code is not copied"), std::string::npos)
        << "round " << round << ": " << outcome.err;
  }
}

}  // namespace
}  // namespace sp::end_to_end
