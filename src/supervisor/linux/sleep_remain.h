#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/address.h"
#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {

/// What nanosleep(2) says remains of a sleep that was interrupted. The kernel writes it whenever a
/// stop wakes the thread, although the thread then sleeps on; a program that nobody else interrupts
/// must not find it. For one thread.
class SleepRemain {
 public:
  /// The thread is about to be interrupted. If it sleeps, remembers what is there now.
  void note(pid_t tid);
  /// The same, where its /proc/TID/syscall was read already; nothing: it runs.
  void note(pid_t tid, const std::optional<BlockedCall>& call);
  /// The thread has stopped; call it before it makes calls for us. Finds out whether it will sleep
  /// on, where the registers of a stop tell that (arch::Native::will_restart()).
  void note_stop(pid_t tid);
  /// The stopped thread is about to run or to be detached, delivering `signal` (0: none). If it
  /// sleeps on, puts back what was noted.
  void put_back(pid_t tid, int signal) const;

 private:
  struct Before {
    std::array<std::uint64_t, 6> arguments{};  // of the call
    int number = -1;
    core::Address at;
    std::array<std::byte, 16> bytes{};  // a timespec
  };
  std::optional<Before> before_;
  bool sleeps_on_ = false;
};

}  // namespace sp::supervisor
