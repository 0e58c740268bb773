#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/fd.h"

/// Runs programs for the tests. Everything waits for an event with a deadline; whatever was started
/// is killed and reaped when its object goes.
namespace sp::end_to_end {

using Words = std::vector<std::string>;

/// Long enough for a sanitized build on a machine that does ten other things; only a failure lasts
/// that long.
constexpr std::chrono::seconds kPatience{90};

/// How many times slower than an ordinary machine this one is: SP_TEST_PATIENCE, or 1.
[[nodiscard]] int patience_factor();
/// `much`, or as much less as this machine is slower.
[[nodiscard]] int scaled(int much);
/// A time, and as much longer as this machine is slower.
[[nodiscard]] int lengthened(int time);
/// The same for the time between two events that are dealt with one by one: it is slow to deal with
/// each, and it gets less time to.
[[nodiscard]] int spaced(int time);
/// For tests that need more samples than an emulated CPU takes.
#define SP_SKIP_WHERE_SAMPLES_ARE_FEW() \
  if (patience_factor() > 1) GTEST_SKIP() << "too few samples are taken on this machine"
/// A shell: a small one where every block of it is waited for.
[[nodiscard]] std::string shell();

/// True as soon as `condition` holds; false where it does not by the deadline.
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

/// How a process ended, and what it wrote.
struct Outcome {
  std::optional<int> wait_status;  // nothing: it had not ended by the deadline
  std::string out;
  std::string err;

  [[nodiscard]] int exit_status() const;  // -1 where it did not exit
  [[nodiscard]] int signal() const;       // 0 where it was not killed
  /// For messages: how it ended, and its stderr.
  [[nodiscard]] std::string text() const;
  /// stderr split: the lines of superprofiler's, and all others.
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

/// A process of ours, the head of a process group of its own.
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

  /// True where it has ended; reaps it.
  [[nodiscard]] bool ended();
  Outcome wait(std::chrono::milliseconds patience = kPatience);

 private:
  pid_t pid_ = -1;
  core::UniqueFd input_;
  core::UniqueFd out_;
  core::UniqueFd err_;
  std::optional<int> status_;
};

/// Starts, waits, and says how it went. stdin is /dev/null unless said otherwise.
Outcome run(const Words& argv, StartOptions options = {});

/// Is that program in PATH?
[[nodiscard]] bool has_program(const std::string& name);

// ---- /proc ------------------------------------------------------------------------------------

[[nodiscard]] std::string status_of(pid_t pid, const std::string& field);
[[nodiscard]] char state_of(pid_t pid, pid_t tid);  // '?' where it is gone
[[nodiscard]] std::vector<pid_t> threads_of(pid_t pid);
[[nodiscard]] std::vector<pid_t> children_of(pid_t pid);
/// The target of a superprofiler; 0 where it has not begun.
[[nodiscard]] pid_t launched_by(pid_t superprofiler);
[[nodiscard]] bool is_alive(pid_t pid);  // exists and is no zombie
/// Processes of that comm name whose parent is not in another test's hands.
[[nodiscard]] std::vector<pid_t> processes_named(const std::string& comm);
/// Ticks of CPU time that it has used.
[[nodiscard]] std::uint64_t cpu_ticks(pid_t pid);

/// What is wrong with a process that superprofiler has left; "" where nothing is.
[[nodiscard]] std::string what_was_left_behind(pid_t pid);
/// Where the executable mappings of its files differ from the files; "" where nowhere.
[[nodiscard]] std::string changed_text(pid_t pid);

}  // namespace sp::end_to_end
