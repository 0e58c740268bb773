// SIGSTOP, SIGCONT, Ctrl-Z and Ctrl-C have the same effect on a profiled program as without
// superprofiler.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <regex>
#include <sstream>
#include <string>

#include "core/clock.h"
#include "end_to_end/profiled.h"

namespace sp::end_to_end {
namespace {

/// All threads are stopped and stay stopped. (The state of a traced process that job control has
/// stopped is 't', not 'T', as under strace.)
bool stands_still(pid_t pid) {
  const auto all_stopped = [pid] {
    const auto tids = threads_of(pid);
    return !tids.empty() && std::all_of(tids.begin(), tids.end(), [pid](pid_t tid) {
      const char state = state_of(pid, tid);
      return state == 'T' || state == 't';
    });
  };
  return eventually([&] {
    const auto ticks = cpu_ticks(pid);
    for (int look = 0; look < 6; ++look) {
      if (!all_stopped()) {
        return false;
      }
      ::usleep(10000);
    }
    return cpu_ticks(pid) == ticks;
  });
}

bool moves(pid_t pid) {
  const auto ticks = cpu_ticks(pid);
  return eventually([&] { return cpu_ticks(pid) > ticks; });
}

const Words kOften = {"-q", "-i", "50"};

TEST(JobControl, stops_and_continues_a_launched_program) {
  for (const char* way : {"sigstop", "interrupt"}) {
    const TempDir directory;
    Words options = kOften;
    options.insert(options.end(), {"--stop-with", way});
    Running profiler(superprofiler(directory, options, {target("steady"), "3", "2"}));
    ASSERT_TRUE(profiler.says("ready\n"));
    const pid_t launched = launched_by(profiler.pid());
    for (int round = 0; round < 5; ++round) {
      ASSERT_TRUE(moves(launched)) << way;
      ::kill(launched, round % 2 == 0 ? SIGSTOP : SIGTSTP);
      ASSERT_TRUE(stands_still(launched)) << way;
      ::kill(launched, SIGCONT);
    }
    ASSERT_TRUE(moves(launched)) << way;
    profiler.close_input();
    const Outcome outcome = profiler.wait();
    EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
    EXPECT_EQ(outcome.out, "ready\nright\n");
  }
}

TEST(JobControl, stops_and_continues_an_attached_program) {
  const TempDir directory;
  Running steady({target("steady"), "3", "2"});
  ASSERT_TRUE(steady.says("ready\n"));
  Words options = kOften;
  options.insert(options.end(), {"-p", std::to_string(steady.pid())});
  Running profiler(superprofiler(directory, options));
  ASSERT_TRUE(eventually([&] { return status_of(steady.pid(), "TracerPid") != "0"; }));
  for (int round = 0; round < 5; ++round) {
    ASSERT_TRUE(moves(steady.pid()));
    steady.signal(SIGSTOP);
    ASSERT_TRUE(stands_still(steady.pid()));
    steady.signal(SIGCONT);
  }
  // Detached while it is stopped: it stays stopped.
  steady.signal(SIGSTOP);
  ASSERT_TRUE(stands_still(steady.pid()));
  profiler.signal(SIGINT);
  EXPECT_EQ(profiler.wait().exit_status(), 0);
  EXPECT_TRUE(eventually([&] { return state_of(steady.pid(), steady.pid()) == 'T'; }));
  steady.signal(SIGCONT);
  EXPECT_TRUE(eventually([&] { return what_was_left_behind(steady.pid()).empty(); }));
  EXPECT_TRUE(moves(steady.pid()));
  steady.close_input();
  EXPECT_EQ(steady.wait().out, "ready\nright\n");
}

TEST(JobControl, does_not_stop_where_a_traced_process_goes_on) {
  const TempDir directory;
  const std::string script = "setsid dash -c 'while :; do :; done' & echo ready; wait; echo right";
  Running profiler(superprofiler(directory, {"-a"}, {"dash", "-c", script}));
  ASSERT_TRUE(profiler.says("ready\n"));
  const pid_t root = launched_by(profiler.pid());
  ASSERT_TRUE(eventually([&] { return !children_of(root).empty(); }));
  const pid_t other = children_of(root).front();
  ASSERT_TRUE(eventually([&] { return ::getsid(other) == other; }));
  ::kill(root, SIGSTOP);
  profiler.signal(SIGTSTP);  // both have the terminal's process group in common
  ::usleep(1'000'000);
  EXPECT_NE(state_of(profiler.pid(), profiler.pid()), 'T');
  EXPECT_TRUE(moves(other));
  EXPECT_NE(state_of(root, root), 'T');
  ::kill(other, SIGKILL);
  const Outcome outcome = profiler.wait();
  EXPECT_EQ(outcome.out, "ready\nright\n");
  EXPECT_NE(outcome.err.find("not stopping: "), std::string::npos) << outcome.err;
}

TEST(JobControl, wakes_no_sleeper_of_a_program_that_is_stopped_when_it_is_detached) {
  // A SIGCONT that was delivered by a single step left that step to the sleepers.
  for (int round = 0; round < 5; ++round) {
    const TempDir directory;
    Running steady({target("steady"), "1", "2"});
    ASSERT_TRUE(steady.says("ready\n"));
    Running profiler(superprofiler(directory, {"-q", "-p", std::to_string(steady.pid())}));
    ASSERT_TRUE(eventually([&] { return !changed_text(steady.pid()).empty(); }));
    for (int stop = 0; stop < 2; ++stop) {
      ASSERT_TRUE(moves(steady.pid()));
      steady.signal(SIGSTOP);
      ASSERT_TRUE(stands_still(steady.pid()));
      if (stop == 0) {
        steady.signal(SIGCONT);
      }
    }
    profiler.signal(SIGINT);
    EXPECT_EQ(profiler.wait().exit_status(), 0);
    steady.signal(SIGCONT);
    EXPECT_TRUE(moves(steady.pid()));
    steady.close_input();
    ASSERT_EQ(steady.wait().out, "ready\nright\n") << round;
  }
}

TEST(JobControl, survives_a_storm_of_stops_and_continues) {
  for (const char* way : {"sigstop", "interrupt"}) {
    const TempDir directory;
    Words options = kOften;
    options.insert(options.end(), {"--stop-with", way});
    Running profiler(superprofiler(directory, options, {target("steady"), "3", "2"}));
    ASSERT_TRUE(profiler.says("ready\n"));
    const pid_t launched = launched_by(profiler.pid());
    for (int round = 0; round < scaled(200); ++round) {
      ::kill(launched, SIGSTOP);
      ::usleep(static_cast<useconds_t>(round * 37 % 1500));
      ::kill(launched, SIGCONT);
      ::usleep(static_cast<useconds_t>(round * 53 % 1500));
    }
    EXPECT_TRUE(moves(launched)) << way;
    profiler.close_input();
    const Outcome outcome = profiler.wait();
    EXPECT_EQ(outcome.exit_status(), 0) << way << outcome.text();
    EXPECT_EQ(outcome.out, "ready\nright\n");
  }
}

/// SIGCONT discards stop signals that are pending, the SIGSTOPs of a profiler included.
TEST(JobControl, takes_samples_of_threads_that_were_stopped_and_continued) {
  const TempDir directory;
  Running program({target("steady"), "2"});
  ASSERT_TRUE(program.says("ready\n"));
  Running profiler(superprofiler(
      directory, {"-n", "-q", "-i", "200us", "-d", "3", "-p", std::to_string(program.pid())}));
  ASSERT_TRUE(eventually([&] { return status_of(program.pid(), "TracerPid") != "0"; }));
  for (int round = 0; round < 60; ++round) {
    ::kill(program.pid(), SIGSTOP);
    ::usleep(10000);
    ::kill(program.pid(), SIGCONT);
    ::usleep(10000);
  }
  const auto then = core::Clock::now().time_since_epoch();
  ASSERT_EQ(profiler.wait().exit_status(), 0);
  const Outcome script =
      run({SP_PROGRAM, "convert", directory / "run", "-f", "perf-script", "-o", "-"});
  std::map<std::string, int> samples;  // by thread
  const std::regex head("^[^ \t].*/([0-9]+) +([0-9]+\\.[0-9]+): .*");
  std::istringstream lines(script.out);
  std::smatch found;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_match(line, found, head) &&
        std::stod(found[2]) > std::chrono::duration<double>(then).count()) {
      ++samples[found[1]];
    }
  }
  EXPECT_EQ(samples.size(), 2U) << script.text();
  const int least = patience_factor() > 1 ? 5 : 20;  // a slow machine takes fewer
  for (const auto& [thread, count] : samples) {
    EXPECT_GT(count, least) << thread;
  }
}

TEST(JobControl, lets_an_interrupted_target_decide) {
  const TempDir directory;
  Running profiler(superprofiler(directory, {}, {target("signal_ways"), "interrupt"}));
  ASSERT_TRUE(profiler.says("ready\n"));
  profiler.signal_group(SIGINT);  // as a terminal does
  const Outcome outcome = profiler.wait();
  EXPECT_EQ(outcome.exit_status(), 7) << outcome.text();
  EXPECT_EQ(outcome.out, "ready\ninterrupted\n");
  EXPECT_TRUE(RunFiles(directory / "run").complete());
}

TEST(JobControl, detaches_at_the_second_interrupt) {
  const TempDir directory;
  Running profiler(superprofiler(directory, {"-v"}, {target("signal_ways"), "deaf"}));
  ASSERT_TRUE(profiler.says("ready\n"));
  const pid_t launched = launched_by(profiler.pid());
  profiler.signal_group(SIGINT);
  // Two that are pending at once are one.
  ASSERT_TRUE(profiler.reports("once more detaches")) << profiler.err();
  ASSERT_TRUE(moves(launched));
  profiler.signal_group(SIGINT);
  const Outcome outcome = profiler.wait();
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.text();
  EXPECT_TRUE(RunFiles(directory / "run").complete());
  EXPECT_EQ(RunFiles(directory / "run").run().at("end"), "detached");
  EXPECT_TRUE(eventually([&] { return what_was_left_behind(launched).empty(); }));
  EXPECT_TRUE(moves(launched));
  profiler.close_input();
  EXPECT_TRUE(profiler.says("went on\n"));
}

TEST(JobControl, detaches_from_a_launched_program_at_sigterm) {
  const TempDir directory;
  Running profiler(superprofiler(directory, {}, {target("steady"), "2"}));
  ASSERT_TRUE(profiler.says("ready\n"));
  const pid_t launched = launched_by(profiler.pid());
  profiler.signal(SIGTERM);
  const Outcome outcome = profiler.wait();
  EXPECT_TRUE(outcome.wait_status) << outcome.text();
  EXPECT_TRUE(RunFiles(directory / "run").complete()) << outcome.text();
  EXPECT_TRUE(eventually([&] { return what_was_left_behind(launched).empty(); }));
  EXPECT_TRUE(moves(launched));
  profiler.close_input();
  EXPECT_TRUE(profiler.says("right\n"));
}

/// An interactive bash on a terminal of its own.
class Shell {
 public:
  Shell() {
    int terminal = -1;
    pid_ = ::forkpty(&terminal, nullptr, nullptr, nullptr);
    if (pid_ == 0) {
      ::setenv("PS1", "shell> ", 1);
      ::setenv("TERM", "dumb", 1);
      ::unsetenv("PROMPT_COMMAND");
      ::execlp("bash", "bash", "--norc", "--noprofile", "-i", nullptr);
      ::_exit(121);
    }
    terminal_.reset(terminal);
  }
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;
  ~Shell() {
    for (const pid_t child : children_of(pid_)) {
      for (const pid_t grandchild : children_of(child)) {
        ::kill(grandchild, SIGKILL);
      }
      ::kill(child, SIGKILL);
    }
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  void type(const std::string& text) {
    seen_from_ = seen_.size();
    [[maybe_unused]] const ssize_t written = ::write(terminal_.get(), text.data(), text.size());
  }
  /// Since the last input.
  bool shows(const std::string& text) {
    return eventually([&] {
      pollfd ready{terminal_.get(), POLLIN, 0};
      std::array<char, 4096> buffer;
      while (::poll(&ready, 1, 0) == 1) {
        const ssize_t got = ::read(terminal_.get(), buffer.data(), buffer.size());
        if (got <= 0) {
          break;
        }
        seen_.append(buffer.data(), static_cast<std::size_t>(got));
      }
      return seen_.find(text, seen_from_) != std::string::npos;
    });
  }
  [[nodiscard]] const std::string& seen() const { return seen_; }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  core::UniqueFd terminal_;
  std::string seen_;
  std::size_t seen_from_ = 0;
};

std::string quoted(const Words& words) {
  std::string line;
  for (const std::string& word : words) {
    line += "'" + word + "' ";
  }
  return line;
}

TEST(JobControl, works_in_an_interactive_shell) {
  if (!has_program("bash")) {
    GTEST_SKIP() << "there is no bash here";
  }
  const TempDir directory;
  Shell shell;
  ASSERT_TRUE(shell.shows("shell> ")) << shell.seen();
  shell.type(quoted(superprofiler(directory, {}, {target("signal_ways"), "interrupt"})) +
             "; echo ended with $?\n");
  ASSERT_TRUE(shell.shows("ready")) << shell.seen();  // possibly after a status line
  for (int round = 0; round < 3; ++round) {
    shell.type("\x1a");  // Ctrl-Z
    ASSERT_TRUE(shell.shows("Stopped")) << shell.seen();
    ASSERT_TRUE(shell.shows("shell> ")) << shell.seen();
    shell.type("fg\n");
    ASSERT_TRUE(shell.shows(target("signal_ways"))) << shell.seen();
    const auto jobs = children_of(shell.pid());
    ASSERT_FALSE(jobs.empty());
    ASSERT_TRUE(moves(launched_by(jobs.front())));
  }
  shell.type("\x03");  // Ctrl-C
  ASSERT_TRUE(shell.shows("interrupted")) << shell.seen();
  ASSERT_TRUE(shell.shows("shell> ")) << shell.seen();
  shell.type("echo ended with $?\n");
  ASSERT_TRUE(shell.shows("ended with 7")) << shell.seen();
  EXPECT_TRUE(RunFiles(directory / "run").complete());
}

TEST(JobControl, shows_a_status_line_on_a_terminal_and_takes_it_away) {
  if (!has_program("bash")) {
    GTEST_SKIP() << "there is no bash here";
  }
  const TempDir directory;
  Shell shell;
  ASSERT_TRUE(shell.shows("shell> ")) << shell.seen();
  shell.type(quoted(superprofiler(directory, {}, {target("steady"), "1"})) + "\n");
  ASSERT_TRUE(shell.shows("samples")) << shell.seen();
  shell.type("\x04");  // end of input
  ASSERT_TRUE(shell.shows("right")) << shell.seen();
  ASSERT_TRUE(shell.shows("shell> ")) << shell.seen();
  EXPECT_NE(shell.seen().rfind("\r\x1b[2K"), std::string::npos);
}

}  // namespace
}  // namespace sp::end_to_end
