#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>

namespace sp::supervisor {

/// The threads that are being single-stepped. Lives in memory that is shared with the guardian
/// process: the ptrace thread writes, the guardian reads once superprofiler is dead. Used where
/// Native::kStepOutlivesTracer: the kernel does not end the single step of a thread whose tracer
/// dies, and the injected SIGTRAP handler cannot: its first instruction is stepped over as well,
/// which begins another handler, until the stack is full.
struct SteppedThreads {
  static constexpr std::size_t kEntries = 4096;

  void add(pid_t tid);
  void remove(pid_t tid);
  /// Ends their single steps: traces and detaches them. Threads that do not stop within some
  /// milliseconds are left. Runs in the guardian process.
  void end_steps();

  std::array<std::atomic<pid_t>, kEntries> tids;  // 0: free
};

}  // namespace sp::supervisor
