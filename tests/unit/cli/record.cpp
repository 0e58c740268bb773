#include <gtest/gtest.h>

#include "parsing.h"

namespace sp::cli {
namespace {

using Words = std::vector<std::string>;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Record, launches_what_stands_behind_the_dashes_untouched) {
  const RecordOptions options = record({"--flame", "--", "ls", "-l", "--", "-p", "3", ""});
  EXPECT_TRUE(options.launches_target());
  EXPECT_EQ(options.command, (Words{"ls", "-l", "--", "-p", "3", ""}));
  EXPECT_TRUE(options.flame);
  EXPECT_EQ(options.follow, (Follow{.fork = true, .exec = true}));
}

TEST(Record, launches_a_quoted_command) {
  EXPECT_EQ(record({"-c", "CMD \"a b\" c"}).command, (Words{"CMD", "a b", "c"}));
  EXPECT_EQ(record({"-c", "[a,b] {}"}).command, (Words{"[a,b]", "{}"}));
}

TEST(Record, attaches_and_follows_exec_only) {
  const RecordOptions options = record({"-p", "1234"});
  EXPECT_EQ(options.pids, std::vector<pid_t>{1234});
  EXPECT_TRUE(options.command.empty());
  EXPECT_EQ(options.follow, (Follow{.fork = false, .exec = true}));
}

TEST(Record, attaches_to_several_processes_each_once) {
  EXPECT_EQ(record({"-p", "12,34", "-p", "56,12"}).pids, (std::vector<pid_t>{12, 34, 56}));
}

TEST(Record, runs_a_load_beside_the_process) {
  const RecordOptions options = record({"-p", "1234", "--", "wrk", "-c", "10"});
  EXPECT_EQ(options.pids, std::vector<pid_t>{1234});
  EXPECT_FALSE(options.launches_target());
  EXPECT_EQ(options.command, (Words{"wrk", "-c", "10"}));
}

TEST(Record, has_the_documented_defaults) {
  const RecordOptions options = record({"--", "ls"});
  EXPECT_EQ(options.interval, microseconds(100));
  EXPECT_EQ(options.overhead_percent, 25);
  EXPECT_EQ(options.trace_probability, 1);
  EXPECT_EQ(options.func_instrumentation_depth, 5U);
  EXPECT_EQ(options.output, "output");
  EXPECT_EQ(options.name, "");
  EXPECT_FALSE(options.duration.has_value());
  EXPECT_EQ(options.delay, Duration::zero());
  EXPECT_TRUE(options.all_threads);
  EXPECT_EQ(options.stop_with, StopWith::sigstop);
  EXPECT_EQ(options.verbosity, Verbosity::normal);
  EXPECT_FALSE(options.wall || options.flame || options.by_thread || options.overwrite ||
               options.no_aslr || options.no_copies || options.no_progress ||
               options.no_instrumentation || options.allow_bottlenecking || options.derive);
  EXPECT_TRUE(options.notes.empty());
}

TEST(Record, reads_every_option) {
  const RecordOptions options = record({"-i1ms",
                                        "-d",
                                        "30",
                                        "-D",
                                        "2s",
                                        "--overhead",
                                        "5%",
                                        "-t",
                                        "0.5",
                                        "--wall",
                                        "--follow",
                                        "fork",
                                        "--threads=main",
                                        "--stop-with",
                                        "interrupt",
                                        "--no-aslr",
                                        "--no-copies",
                                        "-n",
                                        "-o",
                                        "runs",
                                        "--name",
                                        "first",
                                        "--overwrite",
                                        "--flame",
                                        "--by-thread",
                                        "--debug-dir",
                                        "a",
                                        "--debug-dir",
                                        "b",
                                        "-q",
                                        "--color=always",
                                        "--no-progress",
                                        "--",
                                        "ls"});
  EXPECT_EQ(options.interval, milliseconds(1));
  EXPECT_EQ(options.duration, seconds(30));
  EXPECT_EQ(options.delay, seconds(2));
  EXPECT_EQ(options.overhead_percent, 5);
  EXPECT_EQ(options.trace_probability, 0.5);
  EXPECT_EQ(options.follow, (Follow{.fork = true, .exec = false}));
  EXPECT_FALSE(options.all_threads);
  EXPECT_EQ(options.stop_with, StopWith::interrupt);
  EXPECT_EQ(options.output, "runs");
  EXPECT_EQ(options.name, "first");
  EXPECT_EQ(options.debug_dirs, (Words{"a", "b"}));
  EXPECT_EQ(options.verbosity, Verbosity::quiet);
  EXPECT_EQ(options.color, Color::always);
  EXPECT_TRUE(options.wall && options.flame && options.by_thread && options.overwrite &&
              options.no_aslr && options.no_copies && options.no_progress &&
              options.no_instrumentation);
}

TEST(Record, takes_a_rate_for_an_interval) {
  EXPECT_EQ(record({"-F", "1000", "--", "ls"}).interval, milliseconds(1));
  EXPECT_EQ(record({"-F1000000", "--", "ls"}).interval, microseconds(1));
  EXPECT_EQ(record({"-F", "0.5", "--", "ls"}).interval, seconds(2));
}

TEST(Record, lets_a_later_option_override_an_earlier_one) {
  EXPECT_EQ(record({"-i", "5", "-i", "7", "--", "ls"}).interval, microseconds(7));
  EXPECT_TRUE(record({"--wall", "--wall", "--", "ls"}).wall);
}

TEST(Record, reads_what_to_follow) {
  EXPECT_EQ(record({"--follow", "none", "--", "ls"}).follow, (Follow{false, false}));
  EXPECT_EQ(record({"--follow", "fork,exec", "-p", "1"}).follow, (Follow{true, true}));
  EXPECT_EQ(record({"--follow", "all", "-p", "1"}).follow, (Follow{true, true}));
}

TEST(Record, obeys_no_color_unless_told_otherwise) {
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_EQ(record({"--", "ls"}).color, Color::never);
  EXPECT_EQ(record({"--color=always", "--", "ls"}).color, Color::always);
  ::setenv("NO_COLOR", "", 1);
  EXPECT_EQ(record({"--", "ls"}).color, Color::automatic);
  ::unsetenv("NO_COLOR");
}

TEST(Record, reads_what_probes_go_where) {
  const RecordOptions options =
      record({"--only-funcs", "main,f*", "--only-funcs", "g(int, int)", "--only-instrument-execs",
              "/bin/ls", "--func-instrumentation-depth", "3", "-a", "--derive", "--", "ls"});
  EXPECT_EQ(options.only_funcs, (Words{"main", "f*", "g(int, int)"}));
  EXPECT_EQ(options.only_instrument_execs, Words{"/bin/ls"});
  EXPECT_EQ(options.func_instrumentation_depth, 3U);
  EXPECT_TRUE(options.allow_bottlenecking);
  EXPECT_TRUE(options.derive);
  EXPECT_TRUE(options.notes.empty());
  EXPECT_EQ(record({"--only-funcs", "/^ns::f[0-9]+$/,/,g*", "--", "ls"}).only_funcs,
            (Words{"/^ns::f[0-9]+$/", "/,g*"}));
}

TEST(Record, says_which_options_need_probes_beside_samples) {
  const Words all = {"-a",
                     "--derive",
                     "--only-funcs",
                     "f",
                     "--only-instrument-execs",
                     "/bin/ls",
                     "--func-instrumentation-depth",
                     "3",
                     "--",
                     "ls"};
  const auto note = [&](const std::string& mode) {
    Words words = all;
    words.insert(words.begin(), mode);
    const auto notes = record(words).notes;
    EXPECT_EQ(notes.size(), 1U) << mode;
    return notes.empty() ? std::string() : notes[0];
  };
  const std::string given =
      "--allow-bottlenecking, --derive, --only-funcs, --only-instrument-execs, "
      "--func-instrumentation-depth";
  EXPECT_EQ(note("-n"), given + ": no effect with -n, which inserts no probes");
  EXPECT_EQ(note("-s"), given + ": no effect with -s, which counts all code of every module");
  EXPECT_TRUE(record({"-n", "--", "ls"}).notes.empty());
}

TEST(Record, counts_exactly_by_planting_or_by_steps) {
  EXPECT_EQ(record({"--", "ls"}).single, Single::off);
  EXPECT_EQ(record({"-s", "--", "ls"}).single, Single::breakpoints);
  EXPECT_EQ(record({"--single", "--", "ls"}).single, Single::breakpoints);
  EXPECT_EQ(record({"--single=step", "--", "ls"}).single, Single::step);
  EXPECT_EQ(record({"-s=step", "--", "ls"}).single, Single::step);
  EXPECT_EQ(record({"--single=step", "-s", "--", "ls"}).single, Single::breakpoints);
  const RecordOptions copies = record({"--single=copies", "--", "ls"});
  EXPECT_EQ(copies.single, Single::off);
  EXPECT_TRUE(copies.allow_bottlenecking);
  EXPECT_EQ(copies.only_instrument_execs, std::vector<std::string>{"all"});
  EXPECT_EQ(record({"-s", "-p", "7"}).pids, std::vector<pid_t>{7});
  EXPECT_TRUE(record({"-s", "--", "ls"}).notes.empty());
  const auto sampling_too = record({"-s", "--flame", "--wall", "-D", "1s", "--", "ls"});
  EXPECT_EQ(sampling_too.notes.size(), 3U);
  EXPECT_FALSE(sampling_too.flame || sampling_too.wall);
  EXPECT_EQ(sampling_too.delay, core::Duration{});
}

TEST(Record, says_that_no_aslr_needs_a_launch) {
  EXPECT_EQ(record({"--no-aslr", "-p", "1"}).notes.size(), 1U);
}

TEST(Doctor, is_a_command_of_its_own) {
  const Parsed plain = parsed({"doctor"});
  ASSERT_TRUE(std::holds_alternative<DoctorOptions>(plain));
  EXPECT_FALSE(std::get<DoctorOptions>(plain).pid.has_value());
  const Parsed with_pid = parsed({"doctor", "-p", "12", "--color=never"});
  ASSERT_TRUE(std::holds_alternative<DoctorOptions>(with_pid));
  EXPECT_EQ(std::get<DoctorOptions>(with_pid).pid, 12);
  EXPECT_EQ(std::get<DoctorOptions>(with_pid).color, Color::never);
  EXPECT_TRUE(printed({"doctor", "--help"}).starts_with("superprofiler doctor [-p PID]"));
}

TEST(Annotate, takes_a_run_and_a_function_and_options_anywhere) {
  const Parsed outcome =
      parsed({"annotate", "output/demo-1", "--debug-dir", "a", "ns::f(int)", "--debug-dir=b"});
  ASSERT_TRUE(std::holds_alternative<AnnotateOptions>(outcome));
  const auto& options = std::get<AnnotateOptions>(outcome);
  EXPECT_EQ(options.run, "output/demo-1");
  EXPECT_EQ(options.function, "ns::f(int)");
  EXPECT_EQ(options.debug_dirs, (Words{"a", "b"}));
  EXPECT_TRUE(std::holds_alternative<AnnotateOptions>(parsed({"annotate", "run", "--", "-f"})));
  EXPECT_TRUE(printed({"annotate", "-h"}).starts_with("superprofiler annotate RUN FUNCTION"));
}

TEST(Doctor, may_be_a_program_too) { EXPECT_EQ(record({"--", "doctor"}).command, Words{"doctor"}); }

}  // namespace
}  // namespace sp::cli
