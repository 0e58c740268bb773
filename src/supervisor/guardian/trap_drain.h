#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>

namespace sp::supervisor {

/// Looks, once the breakpoints of a process are gone, whether all threads that had run into one
/// have been through the handler that sends them back (see rescue.h). They are not told apart from
/// others, so every thread is waited for: until it sleeps in a system call with no SIGTRAP on its
/// way, or has used CPU time since. Under load that takes seconds: a thread may lose its CPU in
/// front of the handler's first instruction.
class TrapDrain {
 public:
  explicit TrapDrain(pid_t pid) : pid_(pid) {}

  /// To be called again until it says so. A process that is gone has turned back.
  [[nodiscard]] bool look();

 private:
  [[nodiscard]] bool look_at(pid_t tid);

  pid_t pid_;
  bool began_ = false;
  /// Threads that are not through yet -> nanoseconds of CPU time that they had used.
  std::map<pid_t, std::uint64_t> waiting_;
};

}  // namespace sp::supervisor
