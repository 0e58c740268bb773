// A launched program must not notice that it is being profiled.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

/// The same stdin for both ways of starting a program, and the same kind of stdout.
Outcome plain(const Words& program, const StartOptions& start = {}) { return run(program, start); }

void expect_same(const Outcome& with, const Outcome& without) {
  EXPECT_EQ(with.wait_status, without.wait_status) << with.text();
  EXPECT_EQ(with.out, without.out);
  EXPECT_EQ(with.foreign_lines(), without.err);
}

TEST(Launch, passes_the_exit_status_on) {
  for (const char* status : {"0", "3", "42", "255"}) {
    const TempDir directory;
    const auto run = profile(directory, {}, {target("dies"), "exit", status});
    EXPECT_EQ(run.outcome.exit_status(), std::stoi(status)) << run.outcome.text();
    EXPECT_TRUE(run.files.complete());
    EXPECT_EQ(run.files.run().at("exit_status"), std::stoi(status));
  }
}

TEST(Launch, dies_by_the_signal_that_killed_the_target) {
  const std::vector<std::pair<const char*, int>> ways = {
      {"segv", SIGSEGV}, {"abort", SIGABRT}, {"kill", SIGKILL}, {"term", SIGTERM}};
  for (const auto& [way, number] : ways) {
    const TempDir directory;
    const auto run = profile(directory, {}, {target("dies"), way});
    EXPECT_EQ(run.outcome.signal(), number) << run.outcome.text();
    EXPECT_TRUE(run.files.complete()) << way;
    EXPECT_EQ(run.files.run().at("exit_signal"), number);
    EXPECT_GT(run.files.samples(), 0U);
  }
}

TEST(Launch, leaves_stdin_stdout_and_stderr_to_the_target) {
  const TempDir directory;
  std::string bytes;
  for (int i = 0; i < 300000; ++i) {
    bytes += static_cast<char>(i * 7 + i / 256);
  }
  write_file(directory / "bytes", bytes);
  StartOptions start;
  start.input = directory / "bytes";
  const Words program = {"/bin/sh", "-c", "echo to stderr >&2; cat; echo more >&2"};
  const auto run = profile(directory, {}, program, start);
  expect_same(run.outcome, plain(program, start));
  EXPECT_EQ(run.outcome.out, bytes);
  EXPECT_EQ(run.outcome.foreign_lines(), "to stderr\nmore\n");
}

TEST(Launch, reports_what_cannot_be_executed_in_one_line) {
  const TempDir directory;
  write_file(directory / "not-executable", "#!/bin/sh\n");
  write_file(directory / "no-interpreter", "#!/no/such/interpreter\n");
  ::chmod((directory / "no-interpreter").c_str(), 0755);
  const std::vector<std::pair<std::string, int>> cases = {
      {"no-such-program-anywhere", 127},
      {directory / "missing", 127},
      {directory / "no-interpreter", 127},
      {directory / "not-executable", 126},
      {directory.path(), 126},
  };
  for (const auto& [program, status] : cases) {
    const auto run = profile(directory, {}, {program});
    EXPECT_EQ(run.outcome.exit_status(), status) << run.outcome.text();
    EXPECT_EQ(run.outcome.foreign_lines(), "") << program;
    EXPECT_NE(run.outcome.err.find("cannot run '" + program + "'"), std::string::npos)
        << run.outcome.text();
    EXPECT_EQ(std::count(run.outcome.err.begin(), run.outcome.err.end(), '\n'), 1)
        << run.outcome.text();
    EXPECT_FALSE(std::filesystem::exists(directory / "run")) << program;
  }
}

TEST(Launch, splits_c_like_a_shell_does) {
  const TempDir directory;
  const auto run = end_to_end::run({SP_PROGRAM, "-o", directory.path(), "--name", "run", "-c",
                                    R"(printf '%s|' "two words" a\ b 'it"s' "")"});
  EXPECT_EQ(run.exit_status(), 0) << run.text();
  EXPECT_EQ(run.out, "two words|a b|it\"s||");
}

TEST(Launch, follows_children_however_they_are_made) {
  const TempDir directory;
  const auto run = profile(directory, {}, {target("spawn_ways"), "10"});
  EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_EQ(run.outcome.out, "0 wrong\n");
  EXPECT_EQ(run.files.run().at("process_count"), 41);
  EXPECT_GT(run.files.total_of("cloned"), 0U);  // ran in children only
}

TEST(Launch, survives_exec_from_a_thread_that_is_not_the_leader) {
  for (const char* way : {"sigstop", "interrupt"}) {
    const TempDir directory;
    const auto run = profile(directory, {"--stop-with", way, "-i", "20"},
                             {target("exec_from_thread"), target("spin_shares"), "100"});
    EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
    EXPECT_EQ(run.outcome.out, "done\n");
    EXPECT_GT(run.files.total_of("spin_sixty"), 0U);
    EXPECT_GT(run.files.total_of("spin"), 0U);
    EXPECT_EQ(run.files.run().at("process_count"), 1);
  }
}

TEST(Launch, survives_thousands_of_short_threads) {
  const TempDir directory;
  const auto run = profile(directory, {}, {target("short_threads"), "3000"});
  EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_EQ(run.outcome.out, "3000\n");
  EXPECT_EQ(run.files.run().at("thread_count"), 3001);
}

TEST(Launch, goes_on_when_the_leader_leaves) {
  const TempDir directory;
  const auto run = profile(directory, {}, {target("leader_leaves"), "200"});
  EXPECT_EQ(run.outcome.exit_status(), 17) << run.outcome.text();
  EXPECT_EQ(run.outcome.out, "carried on\n");
  EXPECT_GT(run.files.total_of("carry_on"), run.files.samples() / 2);
}

TEST(Launch, shows_the_target_nothing_else_than_a_shell_would) {
  StartOptions start;
  start.input = "";
  start.environment = {"SOMETHING=other than usual"};
  start.directory = "/usr";
  start.before_exec = [] {
    ::umask(027);
    const rlimit files{321, 4567};
    ::setrlimit(RLIMIT_NOFILE, &files);
    const rlimit stack{4 << 20, 16 << 20};
    ::setrlimit(RLIMIT_STACK, &stack);
    ::setpriority(PRIO_PROCESS, 0, 3);
    ::signal(SIGUSR2, SIG_IGN);
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGCHLD, SIG_IGN);
    ::signal(SIGHUP, SIG_IGN);
    sigset_t blocked;
    ::sigemptyset(&blocked);
    ::sigaddset(&blocked, SIGTERM);
    ::sigaddset(&blocked, SIGALRM);
    ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
    ::fcntl(STDIN_FILENO, F_DUPFD, 17);
    cpu_set_t cpus;
    ::sched_getaffinity(0, sizeof cpus, &cpus);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &cpus)) {
        CPU_ZERO(&cpus);
        CPU_SET(cpu, &cpus);
        break;
      }
    }
    ::sched_setaffinity(0, sizeof cpus, &cpus);
  };
  const TempDir directory;
  const Words program = {target("show_self"), "an argument", ""};
  const auto run = profile(directory, {"-n"}, program, start);  // probes need a SIGTRAP handler
  const auto without = plain(program, start);
  EXPECT_NE(without.out.find("fd 17: /dev/null"), std::string::npos);
  expect_same(run.outcome, without);
}

TEST(Launch, shows_the_target_the_usual_things_too) {
  StartOptions start;
  start.input = "";
  const TempDir directory;
  const Words program = {target("show_self")};
  // Probes need a handler for SIGTRAP, which /proc/PID/status shows.
  const auto run = profile(directory, {"-n"}, program, start);
  expect_same(run.outcome, plain(program, start));
  const auto fixed = profile(directory, {"-n", "--no-aslr", "--name", "fixed"}, program, start);
  EXPECT_NE(fixed.outcome.out.find("personality: 40000"), std::string::npos) << fixed.outcome.out;
}

TEST(Launch, does_not_need_stdin_stdout_or_stderr) {
  for (const int closed : {0, 1, 2, 7}) {
    const TempDir directory;
    StartOptions start;
    start.input = "";
    start.before_exec = [closed] {
      for (int fd = 0; fd < 3; ++fd) {
        if (closed == fd || closed == 7) {
          ::close(fd);
        }
      }
    };
    const std::string fds = "ls -l /proc/self/fd >" + (directory / "fds") + "; exit 9";
    const auto run = profile(directory, {}, {"/bin/sh", "-c", fds}, start);
    const std::string with = read_file(directory / "fds");
    EXPECT_EQ(run.outcome.exit_status(), 9) << closed << run.outcome.text();
    EXPECT_TRUE(run.files.complete()) << closed;
    // The target must not get one of superprofiler's files as its stdin, stdout or stderr.
    EXPECT_EQ(with.find("pipe:"), std::string::npos) << closed << with;
    EXPECT_EQ(with.find(directory / "run"), std::string::npos) << closed << with;
  }
}

TEST(Launch, survives_a_reader_that_goes_away) {
  const TempDir directory;
  // The summary goes to a closed pipe; the exit status is still the target's.
  const auto run = end_to_end::run({"/bin/bash", "-c",
                                    "\"$0\" -o \"$1\" --name run -- \"$2\" exit 5 2> >(exec true)",
                                    SP_PROGRAM, directory.path(), target("dies")});
  EXPECT_EQ(run.exit_status(), 5) << run.text();
  EXPECT_TRUE(RunFiles(directory / "run").complete());
}

TEST(Launch, leaves_core_dumps_as_they_are) {
  const std::string pattern = read_file("/proc/sys/kernel/core_pattern");
  if (pattern.find_first_of("|/%") != std::string::npos || pattern.size() < 2) {
    GTEST_SKIP() << "core_pattern is no plain file name: " << pattern;
  }
  const TempDir directory;
  StartOptions start;
  start.directory = directory.path();
  start.input = "";
  // A sanitized superprofiler disables core dumps, for its children too, unless an option prevents
  // it.
  start.environment = {"ASAN_OPTIONS=disable_coredump=0", "TSAN_OPTIONS=disable_coredump=0"};
  start.before_exec = [] {
    const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
    ::setrlimit(RLIMIT_CORE, &unlimited);
  };
  const auto cores = [&directory] {
    std::size_t found = 0;
    for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
      found += entry.path().filename().string().starts_with("core") ? 1U : 0U;
    }
    return found;
  };
  (void)plain({target("dies"), "abort"}, start);
  if (cores() != 1) {
    GTEST_SKIP() << "no core dump is made here without us either";
  }
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    std::filesystem::remove(entry.path());
  }
  const auto run = profile(directory, {}, {target("dies"), "abort"}, start);
  EXPECT_EQ(run.outcome.signal(), SIGABRT) << run.outcome.text();
  EXPECT_EQ(cores(), 1U) << "the target's, and none of our own";
}

TEST(Launch, runs_32_bit_programs_unharmed) {
  const TempDir directory;
  const std::string program = directory / "program";
  const auto built = end_to_end::run({"gcc", "-m32", "-O1", "-o", program, "-pthread",
                                      std::string(SP_SOURCE_DIR) + "/tests/targets/thread_sums.c"});
  if (built.exit_status() != 0 || plain({program, "2", "1000"}).exit_status() != 0) {
    GTEST_SKIP() << "gcc -m32 does not work here (package gcc-multilib)";
  }
  const auto run = profile(directory, {}, {program, "4", "20000000"});
  EXPECT_EQ(run.outcome.exit_status(), 0) << run.outcome.text();
  EXPECT_EQ(run.outcome.out, "right\n");
}

TEST(Launch, ends_with_the_parent_of_a_daemon) {
  // The end may precede the child's first stop: repeated often enough to see it.
  const int rounds = scaled(12);
  for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
    for (const char* const mode : {"-q", "-s"}) {
      const TempDir directory;
      const std::string path = directory / "went-on";
      const auto run = profile(directory, {mode}, {target("signal_ways"), "daemon", path});
      EXPECT_EQ(run.outcome.exit_status(), 6) << run.outcome.text();
      EXPECT_TRUE(eventually([&] { return read_file(path) == "went on\n"; })) << mode;
    }
  }
}

}  // namespace
}  // namespace sp::end_to_end
