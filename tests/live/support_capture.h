#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "arch/native.h"
#include "core/mapping.h"
#include "core/stack.h"

namespace sp::test {

/// A program run under ptrace for a test of the unwinder: stopped, copied, let go. All calls are
/// to be made on the thread that made it. Ends the program with it.
class CapturedProgram {
 public:
  /// Starts it, stopped at its first instruction. stdout and stderr go to /dev/null.
  explicit CapturedProgram(const std::vector<std::string>& argv);
  /// Starts it untraced, lets it run for a while, and stops all of it by SIGSTOP: only its first
  /// thread is looked at, and release() leaves it stopped for others to look at.
  CapturedProgram(const std::vector<std::string>& argv, std::int64_t microseconds);
  CapturedProgram(const CapturedProgram&) = delete;
  CapturedProgram& operator=(const CapturedProgram&) = delete;
  ~CapturedProgram();

  [[nodiscard]] bool started() const { return pid_ > 0; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// The thread that stopped last.
  [[nodiscard]] pid_t tid() const { return tid_; }

  /// Lets all threads run on to the next breakpoint instruction of the program's own, with its
  /// other signals delivered. False where the program ended first.
  bool run_to_breakpoint();
  /// Lets it run for a while and stops its first thread. False where it ended.
  bool run_for_microseconds(std::int64_t time);
  /// Of a program that was stopped by SIGSTOP: no longer traced, still stopped.
  void release();
  /// One instruction of the thread that stopped last. False where the program ended.
  bool step();

  [[nodiscard]] arch::Native::Registers registers() const;
  /// What a sample holds: at most `most` bytes of stack.
  [[nodiscard]] core::RawStack raw_stack(std::size_t most = std::size_t{8} << 20U) const;
  [[nodiscard]] std::vector<core::Mapping> maps() const;
  [[nodiscard]] std::vector<std::byte> memory(core::Address from, std::size_t size) const;
  [[nodiscard]] std::uint64_t word(core::Address from) const;

 private:
  bool wait_for_stop(int wanted_signal);

  pid_t pid_ = -1;
  pid_t tid_ = -1;
};

}  // namespace sp::test
