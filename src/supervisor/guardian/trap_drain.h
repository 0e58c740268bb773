#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace sp::supervisor {

/// After the breakpoints of a process were removed: tells when all threads that had hit one have
/// been through the injected SIGTRAP handler, which sends them back to the original instruction
/// (breakpoints/trap_handler.h). They cannot be told from other threads, so it waits for every
/// thread: until it waits in a system call with no SIGTRAP pending, or has used CPU time since.
/// Under load that takes seconds: a thread may lose its CPU before the handler's first instruction.
class TrapDrain {
 public:
  /// Nanoseconds of CPU time; more than the trap, the signal and the handler can take.
  static constexpr std::uint64_t kThroughHandler = 2'000'000;

  /// Where a thread must not stand any more.
  using IsWithin = std::function<bool(std::uint64_t pc)>;

  /// A thread has used CPU time if that is `enough`.
  explicit TrapDrain(pid_t pid, std::uint64_t enough = kThroughHandler)
      : pid_(pid), enough_(enough) {}
  /// A thread that is stopped shows where it stands: it is not waited for if that is elsewhere.
  TrapDrain(pid_t pid, std::uint64_t enough, IsWithin is_within)
      : pid_(pid), enough_(enough), is_within_(std::move(is_within)) {}

  /// Call it until it returns true. A process that is gone is drained.
  [[nodiscard]] bool check();

 private:
  [[nodiscard]] bool check_thread(pid_t tid);

  pid_t pid_;
  std::uint64_t enough_;
  IsWithin is_within_;
  bool began_ = false;
  /// Threads that are not drained yet -> nanoseconds of CPU time that they had used.
  std::map<pid_t, std::uint64_t> waiting_;
};

}  // namespace sp::supervisor
