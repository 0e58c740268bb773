#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "arch/native.h"
#include "core/mapping.h"
#include "core/stack.h"

namespace sp::test {

/// A program that runs under ptrace for a test of the unwinder. All calls must come from the thread
/// that created it. Kills the program when it goes out of scope.
class CapturedProgram {
 public:
  /// Starts the program, stopped at its first instruction. stdout and stderr go to /dev/null.
  explicit CapturedProgram(const std::vector<std::string>& argv);
  /// Starts the program untraced, lets it run for a while, and stops all threads by SIGSTOP. Only
  /// its first thread is traced; release() leaves it stopped for other tracers.
  CapturedProgram(const std::vector<std::string>& argv, std::int64_t microseconds);
  CapturedProgram(const CapturedProgram&) = delete;
  CapturedProgram& operator=(const CapturedProgram&) = delete;
  ~CapturedProgram();

  [[nodiscard]] bool started() const { return pid_ > 0; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// The thread that stopped last.
  [[nodiscard]] pid_t tid() const { return tid_; }

  /// Resumes all threads until the next breakpoint instruction of the program itself; delivers its
  /// other signals. False if the program ended first.
  bool run_to_breakpoint();
  /// Lets the program run for a while and stops its first thread. False if it ended.
  bool run_for_microseconds(std::int64_t time);
  /// Detaches from a program that was stopped by SIGSTOP and leaves it stopped.
  void release();
  /// Steps one instruction of the thread that stopped last. False if the program ended.
  bool step();

  [[nodiscard]] arch::Native::Registers registers() const;
  /// Takes a sample, with at most `most` bytes of stack.
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
