#pragma once

#include "core/clock.h"
#include "supervisor/instruments/exact/flow_recorder.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// Lets threads of exact mode run: freely to their next breakpoint or system call, by a single
/// step, or through the copy of an atomic sequence. Runs on the ptrace thread.
class ThreadRunner {
 public:
  explicit ThreadRunner(FlowRecorder& flow) : flow_(flow) {}

  /// Lets a stopped thread run, delivering `signal` (0: none).
  void resume(Tracee& tracee, int signal);
  /// The same without a signal, in the way that the thread's state asks for.
  void continue_thread(Tracee& tracee);
  /// `registers`: the thread's. Where an atomic sequence begins at the pc: lets the thread run
  /// through a copy of it. False where none begins.
  bool run_sequence(Tracee& tracee, ptrace::Registers& registers);
  /// The thread stands at `exit` of its copy of a sequence: counts where it goes, and sets its
  /// registers.
  void leave_sequence(Tracee& tracee, const BreakpointSite& exit, ptrace::Registers& registers,
                      core::TimePoint now);
  /// Something else stopped the thread in its displaced step, which is active.
  void cancel_displaced(Tracee& tracee);

 private:
  static void step_where_code_was_written(Tracee& tracee);
  void deliver_signal(Tracee& tracee, const ptrace::Registers& registers, int signal);

  FlowRecorder& flow_;
};

}  // namespace sp::supervisor
