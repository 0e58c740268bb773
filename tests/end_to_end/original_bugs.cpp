// Bugs of the original superprofiler, and the test for each that this one does not have it.
//
//  1 one thread only; others met its traps   Launch.survives_thousands_of_short_threads,
//                                            OriginalBugs.all_threads_are_sampled
//  2 -p froze a multi-threaded process       AttachLeavesBy.a_signal_without_a_trace,
//                                            Attach.survives_many_rounds
//  3 forked children died of its traps       Launch.follows_children_however_they_are_made
//                                            ExactCrowds.of_forked_children_are_counted_...
//  4 exec was not noticed                    Launch.survives_exec_from_a_thread_that_is_not_...,
//                                            OriginalBugs.an_exec_brings_new_names
//  5 no detach; traps were left behind       AttachLeavesBy..., Killed...; both compare the text
//  6 SIGSTOP from outside hung it            JobControl.stops_and_continues_...
//  7 the target's SIGSEGV, SIGILL: a panic   Interruptions.do_not_touch_the_targets_own_handlers,
//                                            SignalWays.../altstack, Launch.dies_by_the_signal_...
//  8 the target's own SIGTRAP was lost       Interruptions.do_not_touch_the_targets_own_handlers
//  9 a hit counted twice after a signal      OriginalCounts.a_signal_makes_no_hit_count_twice
// 10 a signal looked like a branch           OriginalCounts.a_signal_makes_no_hit_count_twice
// 11 no one-byte instruction was a branch    OriginalCounts.blocks_have_their_start_and_size_...
// 12 branches that are never taken           OriginalCounts.blocks_have_their_start_and_size_...
// 13 500 steps after each sample             OriginalBugs.a_sample_costs_one_stop
// 14 wrong bytes behind an instruction's 8th OriginalCounts.blocks_have_their_start_and_size_...
// 15 -s named the address one byte back      OriginalCounts.blocks_have_their_start_and_size_...
// 16 -s and the bottleneck rule underflowed  OriginalCounts.hot_code_is_counted_to_the_end
// 17 two removals of a probe lost the rest   Exact.detaching_puts_every_byte_back
// 18 -s -p waited for ever                   Attach.stops_no_thread_that_sleeps and
//                                            with -s OriginalCounts.attaching_counts_at_once
// 19 most frames were <unknown>              OriginalBugs.frames_have_names,
//                                            Names.of_stripped_programs_are_places_and_never_wrong
// 20 callers were named after the next one   OriginalBugs.a_call_at_a_functions_end_is_its_own
// 21 return addresses were function starts   OriginalCounts.return_addresses_are_no_functions,
//                                            OriginalBugs.frames_have_names
// 22 block hits were <unknown>               OriginalCounts.blocks_have_their_start_and_size_...
// 23 calls stopped being counted             OriginalCounts.hot_code_is_counted_to_the_end
// 24 one bad frame dropped the whole stack   OriginalBugs.a_stack_that_breaks_off_is_kept
// 25 --only-funcs came too late              OriginalCounts.named_functions_are_counted_...
// 26 --only-instrument-execs came too late   OriginalCounts.named_files_are_counted_...
// 27 aarch64: wrong trap, wrong place        unit tests of arch/aarch64/breakpoint
// 28 system calls were interrupted, and      Interruptions..., Attach.stops_no_thread_that_sleeps,
//    sleepers counted as busy                OriginalBugs.sleepers_are_not_busy
// 29 one row and one write for each hit      OriginalBugs.files_do_not_grow_with_the_samples
// 30 -c split at blanks; status lost         Launch.splits_c_like_a_shell_does,
//                                            Launch.passes_the_exit_status_on
// 31 one test                                this folder, and those beside it
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

TEST(OriginalBugs, all_threads_are_sampled) {
  const TempDir directory;
  const auto run = profile(directory, {"--by-thread"}, {target("thread_sums"), "4", "900000000"});
  ASSERT_EQ(run.outcome.out, "right\n") << run.outcome.text();
  std::set<std::string> threads;
  for (const FoldedStack& stack : run.files.stacks()) {
    if (stack.has("add")) {
      threads.insert(stack.frames.front());
    }
  }
  EXPECT_EQ(threads.size(), 4U) << run.outcome.text();
}

TEST(OriginalBugs, an_exec_brings_new_names) {
  SP_SKIP_WHERE_SAMPLES_ARE_FEW();
  const TempDir directory;
  const auto run =
      profile(directory, {}, {"/bin/sh", "-c", "exec " + target("spin_shares") + " 300"});
  ASSERT_EQ(run.outcome.out, "done\n") << run.outcome.text();
  for (const FunctionRow& row : run.files.functions()) {
    if (row.function == "spin_sixty") {
      EXPECT_EQ(row.module, target("spin_shares"));
    }
  }
  EXPECT_GT(run.files.self_of("spin_sixty"), run.files.samples() / 3);
}

TEST(OriginalBugs, a_sample_costs_one_stop) {
  for (const char* way : {"sigstop", "interrupt"}) {
    const TempDir directory;
    const auto run = profile(directory, {"-n", "--stop-with", way}, {target("spin_shares"), "700"});
    ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
    // Some stops give no sample: a queue was full, or the thread had just gone to sleep.
    const auto losses = run.files.run().at("losses");
    const auto useful = run.files.samples() + losses.at("samples_dropped").get<std::uint64_t>() +
                        losses.at("blocked_before_stop").get<std::uint64_t>() +
                        losses.at("waited_for_cpu").get<std::uint64_t>();
    EXPECT_LE(run.files.stops(), useful + 10) << run.outcome.text();
  }
}

TEST(OriginalBugs, frames_have_names) {
  const TempDir directory;
  const auto run = profile(directory, {}, {target("recursion"), std::to_string(lengthened(500))});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  const std::set<std::string> known = {"_start",
                                       "main",
                                       "descend",
                                       "at_bottom",
                                       "__libc_start_main_impl",
                                       "__libc_start_main",
                                       "__libc_start_call_main"};
  std::uint64_t odd = 0;
  for (const FoldedStack& stack : run.files.stacks()) {
    bool all = true;
    for (const std::string& frame : stack.frames) {
      EXPECT_EQ(frame.find("unknown"), std::string::npos) << frame;
      // The emulated userland has no symbols for local functions of the C library.
      all = all &&
            (known.contains(frame) || (patience_factor() > 1 && frame.starts_with("libc.so.6+")));
    }
    // At the start the loader's functions are executed.
    odd += all || stack.frames.size() < 10 ? 0 : stack.count;
  }
  EXPECT_LE(odd, run.files.samples() / 100) << run.outcome.text();
}

TEST(OriginalBugs, a_call_at_a_functions_end_is_its_own) {
  if (!has_program("gcc")) {
    GTEST_SKIP() << "gcc is not installed";
  }
  const TempDir directory;
  // ends_in_call() returns nowhere: its return address is the first byte of the next function.
  write_file(directory / "a.c", R"(
#include <stdlib.h>
static volatile unsigned long sink;
__attribute__((noinline, noreturn)) void spin_and_exit(void) {
  for (unsigned long i = 0; i < 500000000; ++i) sink = i;
  exit(0);
}
__asm__(".globl ends_in_call\n.type ends_in_call, @function\nends_in_call:\n.cfi_startproc\n"
        "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset 6, -16\nmov %rsp, %rbp\n"
        ".cfi_def_cfa_register 6\ncall spin_and_exit\n.cfi_endproc\n"
        ".size ends_in_call, .-ends_in_call\n"
        ".globl never_called\n.type never_called, @function\nnever_called:\n.cfi_startproc\n"
        "ret\n.cfi_endproc\n.size never_called, .-never_called\n");
void ends_in_call(void);
int main(void) { ends_in_call(); return 1; }
)");
  const auto built = run({"gcc", "-O1", "-o", directory / "program", directory / "a.c"});
  if (built.exit_status() != 0) {
    GTEST_SKIP() << "the example is for x86-64: " << built.err;
  }
  const auto profiled = profile(directory, {}, {directory / "program"});
  ASSERT_EQ(profiled.outcome.exit_status(), 0) << profiled.outcome.text();
  EXPECT_GT(profiled.files.total_of("ends_in_call"), profiled.files.samples() / 2)
      << profiled.outcome.text();
  EXPECT_EQ(profiled.files.total_of("never_called"), 0U);
}

TEST(OriginalBugs, a_stack_that_breaks_off_is_kept) {
  if (!has_program("gcc")) {
    GTEST_SKIP() << "gcc is not installed";
  }
  const TempDir directory;
  // breaks() loses its caller: its return address and frame pointer are overwritten.
  write_file(directory / "a.c", R"(
#include <unistd.h>
static volatile unsigned long sink;
__attribute__((noinline)) void spin(void) {
  for (unsigned long i = 0; i < 500000000; ++i) sink = i;
}
__attribute__((noinline)) void breaks(void) {
  void* volatile* frame = __builtin_frame_address(0);
  frame[0] = (void*)8;
  frame[1] = (void*)16;
  spin();
  _exit(0);
}
int main(void) { breaks(); return 1; }
)");
  const auto built = run(
      {"gcc", "-O1", "-fno-omit-frame-pointer", "-o", directory / "program", directory / "a.c"});
  ASSERT_EQ(built.exit_status(), 0) << built.text();
  const auto profiled = profile(directory, {}, {directory / "program"});
  ASSERT_EQ(profiled.outcome.exit_status(), 0) << profiled.outcome.text();
  std::uint64_t kept = 0;
  for (const FoldedStack& stack : profiled.files.stacks()) {
    if (stack.has("spin") && stack.has("breaks")) {
      EXPECT_EQ(stack.frames.front(), "[truncated]");
      kept += stack.count;
    }
  }
  EXPECT_GT(kept, profiled.files.samples() / 2) << profiled.outcome.text();
  const auto samples = profiled.files.run().at("samples");
  EXPECT_GE(samples.at("truncated").get<std::uint64_t>(), kept);
  std::filesystem::copy(directory / "run/recording.sp", directory / "alone.sp");
  const auto report = [&](const std::string& file) {
    return run({SP_PROGRAM, "report", directory / file, "--percent-limit", "0"}).out;
  };
  EXPECT_NE(report("run").find("spin"), std::string::npos);
  EXPECT_EQ(report("run").find("[truncated]"), std::string::npos);
  EXPECT_EQ(report("alone.sp"), report("run"));
}

TEST(OriginalBugs, sleepers_are_not_busy) {
  const TempDir directory;
  const auto run = profile(directory, {}, {target("sleepers"), "40"});
  ASSERT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_LE(run.files.total_of("wait_in_sleep"), run.files.samples() / 5) << run.outcome.text();
}

TEST(OriginalBugs, files_do_not_grow_with_the_samples) {
  SP_SKIP_WHERE_SAMPLES_ARE_FEW();
  const TempDir directory;
  const auto run = profile(directory, {"-i", "50"}, {target("spin_shares"), "2000"});
  const auto size = std::filesystem::file_size(run.files.directory() + "/stacks.folded");
  // One line for each of the few dozen distinct stacks, not for each sample.
  EXPECT_GT(run.files.samples(), 500U) << run.outcome.text();
  EXPECT_LT(size, 30 * run.files.samples()) << run.outcome.text();
}

}  // namespace
}  // namespace sp::end_to_end
