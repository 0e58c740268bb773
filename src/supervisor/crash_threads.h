#pragma once

#include <vector>

#include "core/crash.h"
#include "supervisor/instruments/instrument.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// The threads of a process that is about to die in the stop of one of them: the others are stopped
/// as well, those that sleep, too, since no system call of theirs returns any more. What they have
/// reported is left to the main loop. Runs on the ptrace thread.
class CrashThreads {
 public:
  /// Returns within half a second. `stopped`: the thread whose stop is being handled.
  static CrashThreads stop(TraceeTable& tracees, Tracee& stopped);

  /// Gives the process its own code back and the stopped thread its own registers. Where the code
  /// is another process's, too, (vfork) it stays.
  void restore_code(Instrument& instrument);
  /// Adds all stacks to `crash`, that of the thread whose stop is being handled first; as many as
  /// can be copied `until` then.
  void copy_stacks(Instrument* instrument, core::Crashed& crash, core::TimePoint until) const;

 private:
  struct Other {
    Tracee* tracee = nullptr;
    BlockedCall call;  // that it slept in, number -1: it ran
    bool is_stopped = false;
  };
  CrashThreads(TraceeTable& tracees, Tracee& stopped) : tracees_(&tracees), stopped_(&stopped) {}

  void stop_sleepers(core::TimePoint until);

  TraceeTable* tracees_;
  Tracee* stopped_;
  std::vector<Other> others_;  // by tid
  std::size_t unknown_ = 0;    // threads that are not traced
};

/// The registers that a stopped thread would have without us.
[[nodiscard]] core::Result<ptrace::Registers> own_registers(const Tracee& tracee);

}  // namespace sp::supervisor
