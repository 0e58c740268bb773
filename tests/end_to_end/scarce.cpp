// What the kernel, a sanitizer's runtime or a restartable sequence does not expect of a program
// that is traced.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

const std::vector<Words>& modes() {
  static const std::vector<Words> all = {{}, {"-n"}, {"-a"}, {"--trace", "-a"}, {"--coverage"}};
  return all;
}

std::string name_of(const Words& mode) { return mode.empty() ? "default" : mode.front(); }

// A SIGSTOP of ours comes without a sender.
TEST(NoSignalsLeft, does_not_stop_a_program) {
  for (const Words& mode : modes()) {
    const TempDir directory;
    const auto run = profile(directory, mode, {target("no_signals_left"), "1000"});
    EXPECT_EQ(run.outcome.out, "ready\ndone\n") << name_of(mode) << run.outcome.text();
    Running program({target("no_signals_left")});
    ASSERT_TRUE(program.says("ready"));
    Words options = mode;
    options.insert(options.end(),
                   {"-d", "0.5", "--overwrite", "-p", std::to_string(program.pid())});
    EXPECT_EQ(sp::end_to_end::run(superprofiler(directory, options)).exit_status(), 0)
        << name_of(mode);
    EXPECT_EQ(what_was_left_behind(program.pid()), "") << name_of(mode);
    program.close_input();
    EXPECT_EQ(program.wait().out, "ready\ndone\n") << name_of(mode);
  }
}

// Where it is killed by SIGKILL, nobody would take the SIGTRAP of a step.
TEST(LetGo, is_a_program_that_single_steps_could_kill) {
  for (const Words& way : {Words{}, Words{"confined"}}) {
    for (const char* const mode : {"--single", "--single=step"}) {
      Words words = {target("handles_trap")};
      words.insert(words.end(), way.begin(), way.end());
      Running program(words);
      ASSERT_TRUE(program.says("ready"));
      const TempDir directory;
      Running profiler(superprofiler(directory, {mode, "-p", std::to_string(program.pid())}));
      EXPECT_TRUE(profiler.reports("it is let go and not counted")) << profiler.err();
      ::kill(profiler.pid(), SIGKILL);
      (void)profiler.wait();
      program.close_input();
      EXPECT_EQ(program.wait().out, "ready\n0 traps\n") << mode << name_of(way);
    }
  }
}

TEST(LetGo, is_nothing_that_has_breakpoints) {
  Running program({target("handles_trap"), "late"});
  ASSERT_TRUE(program.says("ready"));
  const TempDir directory;
  Running profiler(superprofiler(directory, {"--single", "-p", std::to_string(program.pid())}));
  ::usleep(400'000);
  program.close_input();
  EXPECT_EQ(program.wait().out, "ready\n0 traps\n");
  EXPECT_EQ(profiler.wait().exit_status(), 0);
}

TEST(RestartableSequences, end_though_breakpoints_are_in_them) {
  const std::string alone = sp::end_to_end::run({target("restartable")}).out;
  for (const Words& mode : modes()) {
    const TempDir directory;
    const auto run = profile(directory, mode, {target("restartable")});
    EXPECT_EQ(run.outcome.out, alone) << name_of(mode) << run.outcome.text();
  }
}

// Its runtime ends a program with mappings where it does not expect any.
TEST(ThreadSanitizer, finds_no_mapping_that_it_does_not_know) {
  const TempDir directory;
  const std::string program = directory / "program";
  std::ofstream(directory / "program.c") << R"(
#include <stdio.h>
volatile unsigned long sink;
__attribute__((noinline)) void hot(unsigned long value) { sink += value; }
int main(void) {
  for (unsigned long i = 0; i < 300000; ++i) hot(i);
  puts("right");
}
)";
  const Outcome built = sp::end_to_end::run(
      {"gcc", "-O1", "-g", "-fsanitize=thread", "-o", program, directory / "program.c"});
  if (built.exit_status() != 0 || sp::end_to_end::run({program}).exit_status() != 0) {
    GTEST_SKIP() << "no program with ThreadSanitizer runs here";
  }
  for (const Words& mode : modes()) {
    Words options = mode;
    options.emplace_back("--overwrite");
    const auto run = profile(directory, options, {program});
    EXPECT_EQ(run.outcome.exit_status(), 0) << name_of(mode) << run.outcome.text();
    EXPECT_EQ(run.outcome.out, "right\n") << name_of(mode);
  }
}

}  // namespace
}  // namespace sp::end_to_end
