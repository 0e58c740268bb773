#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "supervisor/linux/wait_status.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// How long all threads may take to stop.
inline constexpr core::Duration kLongestWorldStop = std::chrono::milliseconds(100);

/// A thread that is in a stop while a WorldStop lasts.
struct HeldThread {
  pid_t tid = 0;
  pid_t process = 0;
  /// What it has reported, which is not handled yet: in a SignalDelivery of SIGTRAP its pc may be
  /// behind a breakpoint. NotAStop: the thread whose stop is being handled.
  WaitStatus stop;
};

/// Every task of an address space is stopped, or sleeps in a system call: the threads of a process
/// and of those that share its memory. Made while a stop of one of its threads is handled, on the
/// ptrace thread; needs an instrument, whose stops are watched and not consumed. Nothing is resumed
/// here: what the threads have reported (our interrupt, or whatever came first) is left to the main
/// loop, in that order, when the stop at hand has been handled. So nothing gets lost, and each
/// thread is resumed as after any other stop.
///
/// Who sleeps in a system call is left alone. It can wake at any time, to an instruction behind a
/// system call: use stop_woken() after such places are safe.
class WorldStop {
 public:
  /// `stopped`: the thread whose stop is being handled. Errors: EAGAIN, a thread can neither be
  /// stopped nor is it in a system call (a page fault on a hung disk), or one of this process has
  /// called exec; ETIMEDOUT; EPERM, a task is not traced by us. Those that were stopped are left to
  /// the main loop then, too.
  [[nodiscard]] static core::Result<WorldStop> stop(TraceeTable& tracees, const Tracee& stopped,
                                                    core::Duration limit);

  /// The same while no stop is being handled.
  [[nodiscard]] static core::Result<WorldStop> stop(TraceeTable& tracees,
                                                    const TracedProcess& process,
                                                    core::Duration limit);

  /// The same, but threads that cannot be stopped in time go on; those that wait for a page count
  /// as asleep. Error: EAGAIN, a thread has called exec.
  [[nodiscard]] static core::Result<WorldStop> stop_most(TraceeTable& tracees,
                                                         const TracedProcess& process,
                                                         core::Duration limit);
  [[nodiscard]] static core::Result<WorldStop> stop_most(TraceeTable& tracees,
                                                         const Tracee& stopped,
                                                         core::Duration limit);

  /// Looks at the sleepers again: who has woken since is stopped, with whatever is new. Returns how
  /// many threads were added to threads().
  [[nodiscard]] core::Result<std::size_t> stop_woken(core::Duration limit);

  [[nodiscard]] std::span<const HeldThread> threads() const { return held_; }
  [[nodiscard]] bool holds(pid_t tid) const;
  [[nodiscard]] std::size_t asleep() const { return asleep_.size(); }
  /// The tids of those that sleep, and the calls that they sleep in.
  [[nodiscard]] std::vector<std::pair<pid_t, BlockedCall>> sleepers() const;
  [[nodiscard]] core::TimePoint began() const { return began_; }

 private:
  struct Task {
    pid_t tid = 0;
    pid_t process = 0;
  };
  struct Sleeper {
    Task task;
    std::string call;      // its line of /proc/PID/task/TID/syscall
    std::string schedule;  // schedstat, or the switches where there is none
  };
  WorldStop(TraceeTable& tracees, const TracedProcess& process);
  void hold(const Tracee& stopped);
  [[nodiscard]] static core::Result<WorldStop> finish(WorldStop world, core::Duration limit);

  core::Result<void> stop_rest(core::TimePoint until);
  /// Stops tasks that were not there the last time; false if there are none.
  core::Result<bool> take_new_tasks();
  core::Result<void> take(Task task);
  core::Result<void> interrupt(Task task, const std::optional<BlockedCall>& call);
  core::Result<void> await_stops(core::TimePoint until);
  /// Those of the awaited that have stopped by now.
  core::Result<void> take_reported();
  /// Whether the task needs no more waiting: it has reported, or is gone.
  core::Result<bool> has_reported(Task task);
  core::Result<bool> take_woken();

  TraceeTable* tracees_;
  bool leaves_some_ = false;  // stop_most()
  core::TimePoint began_;
  std::vector<pid_t> processes_;
  std::unordered_set<pid_t> seen_;
  std::vector<HeldThread> held_;
  std::vector<Task> awaited_;
  std::vector<Sleeper> asleep_;
};

}  // namespace sp::supervisor
