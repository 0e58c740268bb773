// Default mode: probes count exactly while sampling, change nothing for the target, and leave it as
// it was.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "end_to_end/probe_support.h"

namespace sp::end_to_end {
namespace {

// ---- counts -------------------------------------------------------------------------------------

/// Checks that the counts of the program's blocks with each of `ways` are those of --single.
/// Returns the number of derived blocks for each.
std::vector<std::uint64_t> expect_counts_of_single(const std::vector<Words>& ways,
                                                   const Words& program) {
  const TempDir directory;
  const Profiled by_single = profile(directory, {"-q", "--no-aslr", "-s"}, program);
  const auto wanted = hits_by_byte(blocks_of(by_single.files, program[0]));
  std::vector<std::uint64_t> derived;
  for (const Words& way : ways) {
    const ::testing::ScopedTrace trace(
        __FILE__, __LINE__,
        program[0] + " " + (program.size() > 1 ? program[1] : "") + " " + way.back());
    const TempDir kept;
    Words options = {"-q", "--no-aslr"};
    options.insert(options.end(), way.begin(), way.end());
    const Profiled by_probes = profile(kept, options, program);
    EXPECT_EQ(by_probes.outcome.exit_status(), by_single.outcome.exit_status());
    EXPECT_EQ(by_probes.outcome.out, by_single.outcome.out);
    const auto blocks = blocks_of(by_probes.files, program[0]);
    EXPECT_GT(blocks.size(), 20U);
    for (const BlockRow& block : blocks) {
      EXPECT_EQ(block.kind, "exact") << block.function;
    }
    EXPECT_EQ(hits_by_byte(blocks), wanted);
    const auto run = by_probes.files.run();
    EXPECT_EQ(run["counts"]["consistency"]["disagreeing"], 0);
    EXPECT_EQ(run["probes"]["disagreements"], 0);
    derived.push_back(run["probes"]["derived"]);
  }
  return derived;
}

TEST_F(Probes, that_are_all_kept_or_derived_from_count_what_single_counts) {
  write_file(directory_ / "text", words_of(static_cast<std::size_t>(scaled(3'000))));
  std::vector<Words> programs = {
      {target("known_counts"), "30"},
      {target("switches")},
      {target("probe_ways"), "threads"},
      {"gzip", "-c", directory_ / "text"},
  };
  if (patience_factor() == 1) {  // with --single they make a million stops
    programs.push_back({target("probe_ways"), "exceptions"});
    programs.push_back({target("probe_ways"), "children"});
  }
  for (const Words& program : programs) {
    const auto derived = expect_counts_of_single({{"-a"}, {"-a", "--derive"}}, program);
    EXPECT_EQ(derived[0], 0U);
    EXPECT_GT(derived[1], 0U) << program[0];
  }
}

TEST_F(Probes, that_are_all_kept_count_signals_and_jumps_as_single_does) {
  for (const char* way : {"faults", "faults-on-other-stack", "jumps", "trap-blocked"}) {
    (void)expect_counts_of_single({{"-a"}}, {target("probe_ways"), way});
  }
}

// The block with the call is executed once, what is behind it twice or not at all.
TEST_F(Probes, count_system_calls_that_return_twice_or_never_once) {
  (void)expect_counts_of_single({{"-a"}, {"-a", "--no-copies"}, {"-a", "--derive"}},
                                {target("makes_tasks")});
  const TempDir other;
  const Profiled run = profile(other, {"-q", "-a"}, {target("makes_tasks")});
  EXPECT_EQ(calls_of(run.files, "split"), "3 exact");
  EXPECT_EQ(calls_of(run.files, "become"), "1 exact");
}

TEST_F(Probes, that_others_are_derived_from_take_these_with_them) {
  write_file(directory_ / "text", words_of(400'000));
  const Profiled run =
      profile(directory_, {"-q", "--derive"}, {"gzip", "-9", "-c", directory_ / "text"});
  EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  const auto facts = run.files.run();
  EXPECT_GT(facts["probes"]["derived"], 0);
  EXPECT_GT(facts["probes"]["removed"], 0);
  EXPECT_EQ(facts["counts"]["consistency"]["disagreeing"], 0);
}

TEST_F(Probes, count_calls_that_are_known_beforehand) {
  const Profiled run = profile(directory_, {"-q", "-a"}, {target("known_counts"), "20"});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_EQ(calls_of(run.files, "each_round"), "20 exact");
  EXPECT_EQ(calls_of(run.files, "tail"), "20 exact");
  EXPECT_EQ(calls_of(run.files, "in_a_triangle"), "190 exact");
  EXPECT_EQ(calls_of(run.files, "fib"), "177 exact");
  EXPECT_EQ(calls_of(run.files, "handler"), "2 exact");
}

TEST_F(Probes, count_what_four_threads_do) {
  const Profiled run = profile(directory_, {"-q", "-a"}, {target("probe_ways"), "threads", "200"});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_EQ(calls_of(run.files, "ten_times"), "1000 exact");  // main thread and four others
  EXPECT_EQ(calls_of(run.files, "thread_works(void*)"), "4 exact");
  EXPECT_EQ(most_hits_in(run.files, "ten_times"), 10'000U);
}

TEST_F(Probes, count_what_forked_vforked_and_execed_children_do) {
  const Profiled run = profile(directory_, {"-q", "-a"}, {target("probe_ways"), "children"});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_EQ(calls_of(run.files, "in_child"), "10 exact");
  EXPECT_EQ(calls_of(run.files, "in_vfork"), "10 exact");
  EXPECT_EQ(calls_of(run.files, "work"), "14 exact");  // the parent's, and by fork and exec
}

TEST_F(Probes, of_other_programs_come_once_these_have_run_for_a_while) {
  const std::string many = "i=0; while [ $i -lt 20 ]; do /bin/true; i=$((i+1)); done; ";
  const Words program = {"/bin/sh", "-c", many + target("spin_shares") + " 600; exit 3"};
  const Profiled some = profile(directory_, {"-q", "--overhead", "0"}, program);
  EXPECT_EQ(some.outcome.exit_status(), 3) << some.outcome.text();
  EXPECT_GT(some.files.run()["probes"]["uncounted_programs"], 0);
  EXPECT_GT(some.files.run()["probes"]["hits"], 0);  // of the shell
  EXPECT_FALSE(blocks_of(some.files, target("spin_shares")).empty());
  for (const BlockRow& block : blocks_of(some.files, target("spin_shares"))) {
    EXPECT_NE(block.kind, "exact") << block.function;  // nothing is known of its beginning
  }
  const TempDir other;
  const Profiled all = profile(other, {"-q", "-a"}, {"/bin/sh", "-c", many + "exit 3"});
  EXPECT_EQ(all.outcome.exit_status(), 3) << all.outcome.text();
  EXPECT_EQ(all.files.run()["probes"]["uncounted_programs"], 0);
}

TEST_F(Probes, of_children_that_are_not_followed_count_the_parent_alone) {
  const Profiled run =
      profile(directory_, {"-q", "-a", "--follow", "none"}, {target("probe_ways"), "children"});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_EQ(run.outcome.out, "0 handled, 0 bad\n");
  EXPECT_EQ(calls_of(run.files, "in_child"), "");
  EXPECT_EQ(calls_of(run.files, "in_vfork"), "");
  EXPECT_EQ(calls_of(run.files, "work"), "1 exact");
}

TEST_F(Probes, that_are_hot_are_taken_away_and_their_blocks_have_samples) {
  // Without a budget, which a loaded machine may exhaust before the loop is reached. On an emulated
  // CPU samples would then take more time than the program.
  const char* const interval = patience_factor() > 1 ? "10ms" : "100us";
  const Profiled run = profile(directory_, {"-q", "--no-copies", "--overhead", "0", "-i", interval},
                               {target("spin_shares"), "600"});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_GT(run.files.run()["probes"]["removed"], 0);
  bool any_until = false;
  std::uint64_t sampled = 0;
  for (const BlockRow& block : blocks_of(run.files, target("spin_shares"))) {
    any_until = any_until ||
                (block.function == "spin_sixty" && block.kind.find("until:") != std::string::npos);
    sampled += block.kind == "sampled" ? block.hits : 0;
  }
  EXPECT_TRUE(any_until);
  // If a hit takes a fifth of a millisecond, the probe gets hot only late.
  EXPECT_GT(sampled, patience_factor() > 1 ? 0 : run.files.on_cpu() / 2);
}

TEST_F(Probes, that_are_hot_in_threads_that_are_not_counted_are_taken_away) {
  // Each of two threads executes its loop 20 million times.
  const Profiled run = profile(directory_, {"-q", "--overhead", "0", "--threads", "main"},
                               {target("thread_sums"), "2"});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_EQ(run.outcome.out, "right\n");
  EXPECT_GT(run.files.run()["probes"]["removed"], 0);
  EXPECT_EQ(calls_of(run.files, "add"), "");
}

TEST_F(Probes, without_a_limit_go_where_they_take_most_of_the_time) {
  // None of gzip's loop has a tenth of the hits, which are 8 million.
  write_file(directory_ / "text", words_of(300'000));
  const Profiled run = profile(directory_, {"-q", "--no-copies", "--overhead", "0"},
                               {"gzip", "-c", directory_ / "text"});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_GT(run.files.run()["probes"]["removed"], 20);
  EXPECT_EQ(run.files.run()["cost"]["overhead_is_minimum"], true);
}

TEST_F(Probes, with_a_delay_begin_after_it) {
  const Profiled run = profile(directory_, {"-q", "-D", "200ms"}, {target("spin_shares"), "600"});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  const auto blocks = blocks_of(run.files, target("spin_shares"));
  EXPECT_FALSE(blocks.empty());
  for (const BlockRow& block : blocks) {
    EXPECT_TRUE(block.kind == "sampled" || block.kind.starts_with("exact-since:"))
        << block.function << " " << block.kind;
  }
}

TEST_F(Probes, are_not_there_without_instrumentation) {
  const Profiled run = profile(directory_, {"-q", "-n"}, {target("known_counts"), "10"});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_FALSE(std::filesystem::exists(run.files.directory() + "/blocks.tsv"));
  EXPECT_FALSE(std::filesystem::exists(run.files.directory() + "/edges.tsv"));
  EXPECT_TRUE(run.files.run()["probes"].is_null());
}

// ---- which code ---------------------------------------------------------------------------------

TEST_F(Probes, are_only_in_functions_that_are_named) {
  const std::vector<std::pair<std::string, std::set<std::string>>> cases = {
      {"fib", {"fib"}},
      {"fib,tail", {"fib", "tail"}},
      {"*_round", {"each_round"}},
      {"/^(in_a|fi)/", {"in_a_triangle", "fib"}},
  };
  for (const auto& [wanted, functions] : cases) {
    const TempDir directory;
    const Profiled run =
        profile(directory, {"-q", "-a", "--only-funcs", wanted}, {target("known_counts"), "20"});
    ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
    EXPECT_EQ(functions_with_blocks(run.files), functions) << wanted;
  }
}

TEST_F(Probes, name_the_function_that_an_unknown_one_may_mean) {
  for (const char* const mode : {"-a", "--trace"}) {
    const TempDir directory;
    const Profiled run =
        profile(directory, {mode, "--only-funcs", "in_a_triangel"}, {target("known_counts"), "20"});
    EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
    EXPECT_NE(run.outcome.own_lines().find("--only-funcs; near to it are in_a_triangle"),
              std::string::npos)
        << run.outcome.text();
  }
}

TEST_F(Probes, for_an_unknown_function_are_none_and_it_is_said) {
  const Profiled run =
      profile(directory_, {"-a", "--only-funcs", "no_such_thing"}, {target("known_counts"), "20"});
  EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_NE(run.outcome.own_lines().find("matches --only-funcs"), std::string::npos)
      << run.outcome.text();
  EXPECT_TRUE(functions_with_blocks(run.files).empty());
}

TEST_F(Probes, are_in_the_libraries_that_are_named) {
  const Words program = {target("known_counts"), "20"};
  const auto modules_with = [&](const std::string& wanted) {
    const TempDir directory;
    const Profiled run =
        profile(directory, {"-q", "-a", "--only-instrument-execs", wanted}, program);
    EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
    std::set<std::string> modules;
    for (const BlockRow& block : all_blocks(run.files)) {
      modules.insert(std::filesystem::path(block.module).filename());
    }
    return modules;
  };
  EXPECT_EQ(modules_with("libc.so.6"), std::set<std::string>({"libc.so.6"}));
  const auto all = modules_with("all");
  EXPECT_TRUE(all.contains("libc.so.6"));
  EXPECT_TRUE(all.contains("known_counts"));
  EXPECT_TRUE(modules_with("libnothing.so").empty());
}

TEST_F(Probes, stay_in_a_library_of_which_the_linker_takes_a_part_away) {
  const Words program = {target("loads_one_piece"), target("libone_piece.so")};
  const Outcome alone = run(program);
  ASSERT_EQ(alone.exit_status(), 0) << alone.text();
  for (const Words& options :
       {Words{"-q", "-a", "--only-instrument-execs", "all"}, Words{"-q", "--single=copies"},
        Words{"-q", "--single"}, Words{"-q", "--trace", "--only-instrument-execs", "all"}}) {
    const TempDir directory;
    const Profiled counted = profile(directory, options, program);
    EXPECT_EQ(counted.outcome.wait_status, alone.wait_status) << counted.outcome.text();
    EXPECT_EQ(counted.outcome.out, alone.out);
    EXPECT_EQ(calls_of(counted.files, "one_piece_square"), "200 exact");
  }
}

TEST_F(Probes, in_a_file_that_no_process_maps_are_none_and_it_is_said) {
  const Profiled run = profile(
      directory_,
      {"-a", "--only-instrument-execs", "libnothing.so", "--only-instrument-execs", "libc.so.6"},
      {target("known_counts"), "20"});
  EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  const std::string lines = run.outcome.own_lines();
  EXPECT_NE(lines.find("no process has mapped code of libnothing.so"), std::string::npos) << lines;
  EXPECT_EQ(lines.find("no process has mapped code of libc.so.6"), std::string::npos) << lines;
}

// ---- signals ------------------------------------------------------------------------------------

TEST_F(Probes, in_handlers_of_signals_disturb_nothing) {
  for (const Words& options : {Words{"-q"}, Words{"-q", "-a"}}) {
    const TempDir directory;
    const Profiled run = profile(directory, options, {target("probe_ways"), "alarms"});
    EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
    EXPECT_TRUE(run.outcome.out.ends_with(" handled, 0 bad\n"));
    const std::string handled = run.outcome.out.substr(0, run.outcome.out.find(' '));
    if (options.size() == 2) {
      EXPECT_EQ(calls_of(run.files, "on_signal"), handled + " exact");
    }
  }
}

TEST_F(Probes, leave_a_handler_of_the_targets_for_their_signal_alone) {
  for (const char* const way : {"own-trap", "own-trap-late"}) {
    for (const auto& [options, rounds] : {std::pair<Words, int>{Words{}, scaled(300'000)},
                                          std::pair<Words, int>{Words{"-a"}, scaled(5'000)}}) {
      const TempDir directory;
      const Profiled run =
          profile(directory, options, {target("probe_ways"), way, std::to_string(rounds)});
      EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
      EXPECT_EQ(run.outcome.out, "20 handled, 0 bad\n");
      EXPECT_NE(run.outcome.own_lines().find("it is only"), std::string::npos)
          << run.outcome.text();
    }
  }
}

TEST_F(Probes, are_not_in_a_program_that_gets_a_shadow_stack) {
  StartOptions start;
  start.before_exec = [] { ::setenv("GLIBC_TUNABLES", "glibc.cpu.hwcaps=SHSTK", 1); };
  const Words program = {target("known_counts"), "20"};
  const Profiled sampled = profile(directory_, {"-a"}, program, start);
  EXPECT_EQ(sampled.outcome.exit_status(), 0) << sampled.outcome.text();
  EXPECT_NE(sampled.outcome.own_lines().find("has a shadow stack"), std::string::npos);
  EXPECT_EQ(sampled.files.run()["probes"]["planted"], 0);

  const TempDir directory;
  const Profiled stepped = profile(directory, {"--single"}, program, start);
  EXPECT_EQ(stepped.outcome.exit_status(), 0) << stepped.outcome.text();
  EXPECT_NE(stepped.outcome.own_lines().find("by single steps"), std::string::npos);
  EXPECT_EQ(calls_of(stepped.files, "fib"), "177 exact");
}

TEST_F(Probes, leave_a_program_that_steps_itself_its_traps) {
  const Words program = {target("signal_ways"), "steps-itself"};
  const std::string without = run(program).out;
  for (const char* const way : {"-q", "-n", "-a", "--single"}) {
    const TempDir directory;
    const Profiled with = profile(directory, {way}, program);
    EXPECT_EQ(with.outcome.exit_status(), 0) << way << with.outcome.text();
    EXPECT_EQ(with.outcome.out, without) << way;
  }
}

TEST_F(Probes, work_where_a_thread_blocks_their_signal) {
  const Profiled run = profile(directory_, {"-q"}, {target("probe_ways"), "trap-blocked", "20000"});
  EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_EQ(run.outcome.out, "0 handled, 0 bad\n");
}

// ---- real programs ------------------------------------------------------------------------------

TEST_F(Probes, change_nothing_that_programs_say) {
  write_file(directory_ / "text", words_of(1'000'000));
  const std::string text = directory_ / "text";
  const std::vector<Words> programs = {
      {"gzip", "-c", text},
      {"xz", "-T1", "-1", "-c", text},
      {"sqlite3", ":memory:",
       "with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000) "
       "select count(*), sum(i % 7) from n;"},
      {"/usr/bin/python3", "-S", "-c", "print(sum(i * i % 7 for i in range(100000)))"},
      {"bash", "-c", "tr ' ' '\\n' < " + text + " | sort | uniq -c | sort -rn | head -3; exit 7"},
  };
  for (const Words& program : programs) {
    if (!has_program(std::filesystem::path(program[0]).filename())) {
      continue;
    }
    const TempDir directory;
    const Outcome alone = run(program);
    const Profiled probed = profile(directory, {"-q"}, program);
    EXPECT_EQ(probed.outcome.wait_status, alone.wait_status) << probed.outcome.text();
    EXPECT_TRUE(probed.outcome.out == alone.out) << program[0] << ": another output";
    EXPECT_EQ(probed.outcome.foreign_lines(), alone.foreign_lines());
  }
}

}  // namespace
}  // namespace sp::end_to_end
