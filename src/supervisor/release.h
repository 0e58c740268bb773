#pragma once

#include <sys/types.h>

#include <functional>
#include <set>

#include "supervisor/instruments/instrument.h"
#include "supervisor/lifecycle.h"
#include "supervisor/run_state.h"
#include "supervisor/sampling/sample_timer.h"

namespace sp::supervisor {

/// Lets every thread go at the end of a run: removes the breakpoints, detaches the threads that run
/// in a stop of their own, leaves those that sleep to the kernel. Runs on the ptrace thread.
class Release {
 public:
  Release(RunState& run, Lifecycle& lifecycle, SampleTimer& timer, Instrument* instrument)
      : run_(run), lifecycle_(lifecycle), timer_(timer), instrument_(instrument) {}

  /// Nothing is sampled or counted from now on.
  void begin();
  /// Serves stops by calling `serve_one` until none of ours is pending and every thread that must
  /// be detached in a stop is detached, within a time limit each.
  void finish(const std::function<void()>& serve_one);

 private:
  void stop_masked_threads();
  /// Interrupts one thread of each of these processes, whose threads all sleep, so that it can
  /// remove our memory: one in a system call that continues as if nothing had happened.
  void wake_one_of_each(std::set<const TracedProcess*> processes);
  /// A stop of ours is still to come, `waited` after the end of the run.
  [[nodiscard]] bool stops_are_pending(core::Duration waited) const;
  void cancel_pending_stops();
  /// Threads that ran into a breakpoint before it was removed must go back to the instruction
  /// before we end.
  void wait_for_detaching(const std::function<void()>& serve_one);
  /// The thread is still to come to its last stop, `waited` after that wait began. Interrupts it if
  /// it slept when the others were.
  [[nodiscard]] bool is_awaited(Tracee& tracee, core::Duration waited) const;

  RunState& run_;
  Lifecycle& lifecycle_;
  SampleTimer& timer_;
  Instrument* instrument_;
};

}  // namespace sp::supervisor
