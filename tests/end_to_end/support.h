#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/fd.h"

/// Runs programs for the tests. Everything waits for an event with a deadline; destructors kill and
/// reap what was started.
namespace sp::end_to_end {

using Words = std::vector<std::string>;

/// Long enough for a sanitized build on a heavily loaded machine; only a failure takes that long.
constexpr std::chrono::seconds kPatience{180};

/// The factor by which this machine is slower than an ordinary one: SP_TEST_PATIENCE, or 1.
[[nodiscard]] int patience_factor();
/// `much`, divided by that factor, and a third of that with SP_TEST_SHORT in the environment.
[[nodiscard]] int scaled(int much);
/// A time, multiplied by that factor.
[[nodiscard]] int lengthened(int time);
/// The same for the time between two events that are handled one by one: a slow machine handles
/// each slowly and has less time for it.
[[nodiscard]] int spaced(int time);
/// For tests that need more samples than an emulated CPU takes.
#define SP_SKIP_WHERE_SAMPLES_ARE_FEW() \
  if (patience_factor() > 1) GTEST_SKIP() << "too few samples are taken on this machine"
/// A shell; a small one for runs that count each of its blocks.
[[nodiscard]] std::string shell();

/// True as soon as `condition` holds; false if it does not by the deadline.
[[nodiscard]] bool eventually(const std::function<bool()>& condition,
                              std::chrono::milliseconds patience = kPatience);

[[nodiscard]] std::string target(const std::string& name);  // path of one of tests/targets
[[nodiscard]] std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& text);
/// Text that compresses neither too well nor too badly.
[[nodiscard]] std::string words_of(std::size_t bytes);

class TempDir {
 public:
  TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// How a process ended, and its output.
struct Outcome {
  std::optional<int> wait_status;  // nothing: it had not ended by the deadline
  std::string out;
  std::string err;

  [[nodiscard]] int exit_status() const;  // -1 if it did not exit
  [[nodiscard]] int signal() const;       // 0 if it was not killed
  /// For messages: how it ended, and its stderr.
  [[nodiscard]] std::string text() const;
  /// stderr, split into superprofiler's lines and all others.
  [[nodiscard]] std::string own_lines() const;
  [[nodiscard]] std::string foreign_lines() const;
};

struct StartOptions {
  /// Nothing: stdin is a pipe that the object holds open. Else /dev/null or that file.
  std::optional<std::string> input;
  std::string directory;
  Words environment;                  // NAME=VALUE, added
  std::function<void()> before_exec;  // in the child; async-signal-safe calls only
};

/// A child of the test, the leader of its own process group.
class Running {
 public:
  explicit Running(const Words& argv, const StartOptions& options = {});
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  Running(Running&& other) noexcept;
  Running& operator=(Running&&) = delete;
  ~Running();

  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const;
  void signal_group(int number) const;
  void close_input() { input_.reset(); }
  void write_input(const std::string& text) const;

  [[nodiscard]] std::string out() const;
  [[nodiscard]] std::string err() const;
  [[nodiscard]] bool says(const std::string& text) const;     // on stdout, by the deadline
  [[nodiscard]] bool reports(const std::string& text) const;  // on stderr

  /// True if it has ended; reaps it.
  [[nodiscard]] bool ended();
  Outcome wait(std::chrono::milliseconds patience = kPatience);

 private:
  pid_t pid_ = -1;
  core::UniqueFd input_;
  core::UniqueFd out_;
  core::UniqueFd err_;
  std::optional<int> status_;
};

/// Starts a program, waits for it and returns the outcome. stdin is /dev/null by default.
Outcome run(const Words& argv, StartOptions options = {});

/// Is that program in PATH?
[[nodiscard]] bool has_program(const std::string& name);

// ---- /proc ------------------------------------------------------------------------------------

[[nodiscard]] std::string status_of(pid_t pid, const std::string& field);
[[nodiscard]] char state_of(pid_t pid, pid_t tid);  // '?' if it is gone
[[nodiscard]] std::vector<pid_t> threads_of(pid_t pid);
[[nodiscard]] std::vector<pid_t> children_of(pid_t pid);
/// The target of a superprofiler; 0 if it has not started.
[[nodiscard]] pid_t launched_by(pid_t superprofiler);
[[nodiscard]] bool is_alive(pid_t pid);  // exists and is not a zombie
/// Processes of that comm name whose parent does not belong to another test.
[[nodiscard]] std::vector<pid_t> processes_named(const std::string& comm);
/// Ticks of CPU time that it has used.
[[nodiscard]] std::uint64_t cpu_ticks(pid_t pid);

/// Damage to a process that superprofiler has left; "" if none.
[[nodiscard]] std::string what_was_left_behind(pid_t pid);
/// Differences between its executable mappings and their files; "" if none.
[[nodiscard]] std::string changed_text(pid_t pid);

}  // namespace sp::end_to_end
