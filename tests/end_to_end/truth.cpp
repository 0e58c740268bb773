// The files agree with what the program did.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

/// The deviation of the share of `hits` in `all`, beyond 4 standard deviations of the binomial
/// distribution and half a percent for the loop around the functions.
double error_of_share(std::uint64_t hits, std::uint64_t all, double expected) {
  const auto n = static_cast<double>(all);
  const double deviation = std::sqrt(expected * (1 - expected) / n);
  return std::abs(static_cast<double>(hits) / n - expected) - (4 * deviation + 0.005);
}

class Truth : public ::testing::TestWithParam<const char*> {};

TEST_P(Truth, of_three_functions_with_known_shares) {
  SP_SKIP_WHERE_SAMPLES_ARE_FEW();
  const TempDir directory;
  std::uint64_t sixty = 0;
  std::uint64_t thirty = 0;
  std::uint64_t ten = 0;
  double error = 1;
  // If other processes take the CPU at times, samples are not independent: more of them show
  // whether the mean is wrong.
  for (int attempt = 0; attempt < 3 && error > 0; ++attempt) {
    const auto run = profile(directory, {"-n", "--overwrite", "--stop-with", GetParam()},
                             {target("spin_shares"), "1500"});
    ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
    const RunFiles& files = run.files;
    const auto before = sixty + thirty + ten;
    sixty += files.self_of("spin_sixty");
    thirty += files.self_of("spin_thirty");
    ten += files.self_of("spin_ten");
    const auto all = sixty + thirty + ten;
    ASSERT_GT(all, before + 100U);
    EXPECT_GT(static_cast<double>(all - before), 0.95 * static_cast<double>(files.samples()));
    EXPECT_EQ(files.run().at("samples").at("blocked"), 0);
    error = std::max({error_of_share(sixty, all, 0.6), error_of_share(thirty, all, 0.3),
                      error_of_share(ten, all, 0.1)});
  }
  EXPECT_LE(error, 0) << sixty << " " << thirty << " " << ten;
}

INSTANTIATE_TEST_SUITE_P(With, Truth, ::testing::Values("sigstop", "interrupt"),
                         [](const auto& way) { return std::string(way.param); });

// A probe's hit costs the target time, which shows after the probe.
TEST(Truths, beside_probes_is_near) {
  SP_SKIP_WHERE_SAMPLES_ARE_FEW();
  const TempDir directory;
  const auto run = profile(directory, {}, {target("spin_shares"), "1500"});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  const auto samples = static_cast<double>(run.files.samples());
  ASSERT_GT(samples, 500);
  EXPECT_NEAR(static_cast<double>(run.files.self_of("spin_sixty")) / samples, 0.6, 0.12);
  EXPECT_NEAR(static_cast<double>(run.files.self_of("spin_thirty")) / samples, 0.3, 0.12);
  EXPECT_NEAR(static_cast<double>(run.files.self_of("spin_ten")) / samples, 0.1, 0.12);
}

TEST(Truths, of_two_threads_with_known_shares) {
  SP_SKIP_WHERE_SAMPLES_ARE_FEW();
  const TempDir directory;
  RunFiles files(directory.path());
  double error = 1;
  double errors = 0;
  std::string text;
  // Many samples fall in one turn, so they are not independent: some runs deviate, to either side.
  for (int attempt = 1; attempt <= 3 && std::abs(error) > 0.08; ++attempt) {
    const auto run =
        profile(directory, {"--by-thread", "--overwrite"}, {target("two_shares"), "250"});
    ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
    files = run.files;
    text = run.outcome.text();
    const auto all = files.self_of("heavy_turn") + files.self_of("light_turn");
    ASSERT_GT(all, 100U) << text;
    // The CPU times according to the kernel.
    std::istringstream used(run.outcome.out);
    double heavy_us = 0;
    double light_us = 0;
    used >> heavy_us >> light_us;
    const double share =
        static_cast<double>(files.self_of("heavy_turn")) / static_cast<double>(all);
    errors += share - heavy_us / (heavy_us + light_us);
    error = errors / attempt;
  }
  EXPECT_LE(std::abs(error), 0.08) << text;
  // One tree for each thread, under its name.
  for (const FoldedStack& stack : files.stacks()) {
    const bool heavy = stack.has("heavy_turn");
    if (heavy || stack.has("light_turn")) {
      EXPECT_TRUE(stack.frames.front().starts_with(heavy ? "heavy" : "light"))
          << stack.frames.front();
    }
  }
}

TEST(Truths, of_a_program_that_makes_a_system_call_every_microsecond) {
  // Stops that are an interrupt late see only the calls: 50 to 99 % instead of 6 %.
  double seen = 1;
  double right = 0;
  std::string text;
  Words options = {"-i", "1ms"};
  // With probes a sanitized superprofiler now and then is an interrupt late, and on an emulated CPU
  // hits outweigh the program's time.
  const bool is_slow = SP_PROGRAM_IS_SANITIZED || patience_factor() > 1;
  if (is_slow) {
    options.emplace_back("-n");
  }
  // On a busy machine the ticker may be delayed until it is no longer used.
  for (int attempt = 0; attempt < 4 && seen > right + 0.2; ++attempt) {
    const TempDir directory;
    const auto run = profile(directory, options, {target("many_calls"), "600000"});
    ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
    right = std::stod(run.outcome.out) / 100;
    const auto work = static_cast<double>(run.files.self_of("work"));
    seen = 1 - work / static_cast<double>(run.files.samples());
    text = run.outcome.text();
  }
  EXPECT_LT(seen, right + 0.2) << text;
}

TEST(Truths, of_blocked_time_with_wall_only) {
  SP_SKIP_WHERE_SAMPLES_ARE_FEW();
  const Words program = {target("sleepers"), "40"};
  const TempDir directory;
  RunFiles files(directory.path());
  double asleep = 0;
  double awake = 0;
  std::string text;
  // burn() ends after 10 ms of wall time, the sleep after 30, or much later on a busy machine.
  const auto is_right = [&] { return asleep > 0.6 && awake > 0.15 && awake < 0.33; };
  for (int attempt = 0; attempt < 3 && !is_right(); ++attempt) {
    const auto wall = profile(directory, {"--wall", "--overwrite"}, program);
    ASSERT_EQ(wall.outcome.exit_status(), 0) << wall.outcome.text();
    files = wall.files;
    text = wall.outcome.text();
    const auto samples = static_cast<double>(files.samples());
    asleep = static_cast<double>(files.total_of("wait_in_sleep")) / samples;
    awake = static_cast<double>(files.total_of("burn")) / samples;
  }
  EXPECT_TRUE(is_right()) << "asleep " << asleep << ", awake " << awake << '\n' << text;
  bool seen = false;
  for (const FoldedStack& stack : files.stacks()) {
    if (stack.frames.back() == "[blocked: clock_nanosleep]") {
      seen = seen || stack.has("wait_in_sleep");
    }
  }
  EXPECT_TRUE(seen);
  const auto cpu = profile(directory, {"--overwrite"}, program);
  EXPECT_EQ(cpu.files.run().at("samples").at("blocked"), 0);
  for (const FoldedStack& stack : cpu.files.stacks()) {
    EXPECT_FALSE(stack.frames.back().starts_with("[blocked")) << stack.frames.back();
  }
  EXPECT_GT(static_cast<double>(cpu.files.total_of("burn")),
            0.8 * static_cast<double>(cpu.files.samples()));
}

TEST(Truths, of_a_recursion_counts_a_sample_once) {
  const TempDir directory;
  const auto run = profile(directory, {}, {target("recursion"), std::to_string(lengthened(600))});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_LE(run.files.total_of("descend"), run.files.samples());
  EXPECT_GT(static_cast<double>(run.files.total_of("descend")),
            0.9 * static_cast<double>(run.files.samples()));
  std::uint64_t deep = 0;
  for (const FoldedStack& stack : run.files.stacks()) {
    if (std::count(stack.frames.begin(), stack.frames.end(), "descend") == 21) {
      deep += stack.count;
    }
  }
  EXPECT_GT(static_cast<double>(deep), 0.9 * static_cast<double>(run.files.samples()));
}

TEST(Options, trace_prob_keeps_some_or_no_stacks) {
  const TempDir directory;
  const Words program = {target("spin_shares"), "700"};
  const auto half = profile(directory, {"-t", "0.5"}, program);
  const auto with_stack = half.files.run().at("samples").at("with_stack").get<double>();
  const auto samples = static_cast<double>(half.files.samples());
  EXPECT_NEAR(with_stack / samples, 0.5, 4 * std::sqrt(0.25 / samples) + 0.005);
  const auto none = profile(directory, {"-t", "0", "--overwrite"}, program);
  EXPECT_EQ(none.files.run().at("samples").at("with_stack"), 0);
  EXPECT_GT(none.files.self_of("spin_sixty"), none.files.self_of("spin_ten"));
  EXPECT_EQ(none.files.total_of("spin_sixty"), 0U);
}

TEST(Options, no_instrumentation_is_accepted) {
  const TempDir directory;
  const auto run = profile(directory, {"-n"}, {target("spin_shares"), "300"});
  EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_GT(run.files.samples(), 0U);
}

TEST(Options, the_shortest_interval_works_within_the_budget) {
  const TempDir directory;
  const auto run =
      profile(directory, {"-i", "1"}, {target("spin_shares"), std::to_string(lengthened(1500))});
  EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_GT(run.files.samples(), 100U);
  EXPECT_LT(run.files.run().at("cost").at("overhead_percent").get<double>(), 50);
}

TEST(Options, a_smaller_overhead_makes_fewer_stops) {
  const Words program = {target("spin_shares"), "1500"};
  const auto rate = [&](const char* percent) {
    const TempDir directory;
    const auto run = profile(directory, {"-i", "20", "--overhead", percent}, program);
    EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
    const auto cost = run.files.run().at("cost");
    return cost.at("stops").get<double>() / cost.at("target_cpu_us").get<double>();
  };
  EXPECT_LT(rate("2"), 0.6 * rate("25"));
}

TEST(Options, delay_leaves_the_beginning_out) {
  const TempDir directory;
  // It ends before the first sample is due.
  const auto none = profile(directory, {"-D", "1h"}, {target("spin_shares"), "100"});
  EXPECT_EQ(none.outcome.exit_status(), 0) << none.outcome.text();
  EXPECT_EQ(none.files.samples(), 0U);
  EXPECT_TRUE(none.files.complete());
}

TEST(Options, duration_lets_a_launched_program_go_on) {
  const TempDir directory;
  Running profiler(superprofiler(directory, {"-d", "200ms"}, {target("steady"), "2"}));
  ASSERT_TRUE(profiler.says("ready\n"));
  const Outcome outcome = profiler.wait();
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_TRUE(RunFiles(directory / "run").complete());
  profiler.close_input();
  EXPECT_TRUE(profiler.says("right\n"));
}

TEST(Options, threads_main_samples_the_main_thread_only) {
  const TempDir directory;
  const auto run = profile(directory, {"--threads", "main"}, {target("thread_sums"), "2"});
  EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_EQ(run.files.total_of("add"), 0U);
}

TEST(Options, follow_says_whose_samples_are_taken) {
  // The shell forks, and its child executes another program.
  const std::string spin = target("spin_shares") + " 400";
  const Words forks = {"/bin/sh", "-c", spin + "; exit 4"};
  const Words becomes = {"/bin/sh", "-c", "exec " + spin};
  const auto seen = [](const char* follow, const Words& program, int status) {
    const TempDir directory;
    const auto run = profile(directory, {"--follow", follow}, program);
    EXPECT_EQ(run.outcome.out, "done\n");
    // Without exec the run ends when the process executes another program.
    EXPECT_EQ(run.outcome.exit_status(), status) << follow << run.outcome.text();
    return run.files.total_of("spin_sixty") > 0;
  };
  EXPECT_TRUE(seen("all", forks, 4));
  EXPECT_TRUE(seen("fork,exec", forks, 4));
  EXPECT_FALSE(seen("none", forks, 4));
  EXPECT_FALSE(seen("exec", forks, 4));
  EXPECT_FALSE(seen("fork", forks, 4));
  EXPECT_TRUE(seen("exec", becomes, 0));
}

TEST(Cost, is_right_when_the_first_stop_was_on_its_way_at_an_exec) {
  // A stop requested in the shell may arrive in the program that it executes: once in thirty runs.
  for (int round = 0; round < scaled(40); ++round) {
    const TempDir directory;
    const auto run = profile(directory, {"-q", "-i", "800"},
                             {"/bin/sh", "-c", "exec " + target("spin_shares") + " 1"});
    ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
    const auto json = run.files.run();
    ASSERT_LT(json.at("cost").at("stopped_us").get<double>(),
              2e6 * json.at("elapsed_seconds").get<double>())
        << "stopped for longer than it ran";
  }
}

TEST(Options, quiet_says_nothing) {
  const TempDir directory;
  const auto run = profile(directory, {"-q"}, {target("dies"), "exit", "0"});
  EXPECT_EQ(run.outcome.err, "");
  EXPECT_TRUE(run.files.complete());
}

TEST(Options, the_run_is_named_after_the_program) {
  const TempDir directory;
  Running profiler({SP_PROGRAM, "-o", directory / "deep/below", "--", target("dies")});
  EXPECT_EQ(profiler.wait().exit_status(), 42);
  std::size_t runs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory / "deep/below")) {
    ++runs;
    EXPECT_TRUE(RunFiles(entry.path()).complete());
    const auto run = RunFiles(entry.path()).run();
    EXPECT_EQ(entry.path().filename(), "dies-" + std::to_string(run.at("pid").get<int>()));
  }
  EXPECT_EQ(runs, 1U);
}

}  // namespace
}  // namespace sp::end_to_end
