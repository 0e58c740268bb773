#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "core/fd.h"

namespace sp::test {

/// A program of tests/targets that is spoken with by its standard input and output, line by line.
/// Killed when it goes out of scope, unless somebody has seen its end.
class PipedProgram {
 public:
  explicit PipedProgram(const std::string& name, std::vector<std::string> arguments = {}) {
    int to[2] = {};
    int from[2] = {};
    EXPECT_EQ(::pipe2(to, O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(from, O_CLOEXEC), 0);
    const std::string path = std::string(SP_TARGETS_DIR) + "/" + name;
    arguments.insert(arguments.begin(), path);
    std::vector<char*> argv;
    for (std::string& word : arguments) {
      argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(to[0], STDIN_FILENO);
      ::dup2(from[1], STDOUT_FILENO);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    ::close(to[0]);
    ::close(from[1]);
    in_.reset(to[1]);
    out_.reset(from[0]);
  }
  PipedProgram(const PipedProgram&) = delete;
  PipedProgram& operator=(const PipedProgram&) = delete;
  ~PipedProgram() {
    if (!has_ended_) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, __WALL);
    }
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  void has_ended() { has_ended_ = true; }
  void say(const std::string& line) const {
    EXPECT_EQ(::write(in_.get(), line.data(), line.size()), static_cast<ssize_t>(line.size()));
  }
  /// Its standard input ends.
  void close_input() { in_.reset(); }
  /// Something can be read, or it has closed its output.
  [[nodiscard]] bool has_spoken(int within_ms) const {
    pollfd ready{out_.get(), POLLIN, 0};
    return ::poll(&ready, 1, within_ms) > 0;
  }
  /// The next line; waits for it. "" at the end.
  [[nodiscard]] std::string line() const {
    std::string text;
    for (char c = 0; ::read(out_.get(), &c, 1) == 1 && c != '\n';) {
      text += c;
    }
    return text;
  }

 private:
  pid_t pid_ = 0;
  core::UniqueFd in_;
  core::UniqueFd out_;
  bool has_ended_ = false;
};

}  // namespace sp::test
