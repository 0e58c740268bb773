#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/ids.h"
#include "supervisor/channels/outbox.h"
#include "supervisor/lifecycle.h"
#include "supervisor/run_state.h"

namespace sp::supervisor {

/// One thread, as it was when its process was stopped for a dump.
struct DumpedThread {
  core::ThreadId id;
  std::string name;
  char state = '?';     // R, S, D, T (stopped by job control) or Z, as in /proc/PID/stat
  std::string syscall;  // that it sleeps in; "" if it does not sleep
  bool has_stack = false;
};

/// All threads of a process at one moment. Their stacks are sent as Sampled and OffCpuSample
/// events.
struct ThreadDump {
  std::vector<DumpedThread> threads;  // by tid, the main thread first
  std::size_t stopped = 0;            // threads that had to be stopped
  /// From the first request to stop until the last thread ran on; the longest such time, if some
  /// had to be stopped later.
  core::Duration stopped_for{};
};

/// Takes the stacks of all threads of the run's first process. Those that run are stopped, together
/// and for some 10 ms, and detached; those that sleep are looked at from outside meanwhile. Who
/// waits for a CPU all that time is stopped later. Runs
/// on the ptrace thread; `serve_one` handles one report of wait(2), which must be watched and not
/// consumed (see WorldStop).
[[nodiscard]] ThreadDump dump_threads(Lifecycle& lifecycle, const RunState& run, Outbox& outbox,
                                      const std::function<void()>& serve_one);

}  // namespace sp::supervisor
