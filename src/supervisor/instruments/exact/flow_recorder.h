#pragma once

#include "core/address.h"
#include "core/clock.h"
#include "core/code_counts.h"
#include "core/ids.h"
#include "supervisor/breakpoints/edge_counts.h"
#include "supervisor/channels/outbox.h"
#include "supervisor/instruments/exact/collect_switch.h"
#include "supervisor/instruments/exact/counted_code.h"
#include "supervisor/instruments/exact/counted_thread.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// The exact instrument's state of a process's code and of a thread; both must exist.
[[nodiscard]] inline CountedCode& counted_code(const TracedProcess& process) {
  return static_cast<CountedCode&>(*process.code_state);
}
[[nodiscard]] inline CountedThread& counted_thread(const Tracee& tracee) {
  return static_cast<CountedThread&>(*tracee.thread_state);
}

/// Counts where control goes, and discovers the code there before the thread executes it. Runs on
/// the ptrace thread.
class FlowRecorder {
 public:
  FlowRecorder(Outbox& outbox, const CollectSwitch& collect) : outbox_(outbox), collect_(collect) {}

  /// The thread's control goes from `from` to `to`, with these registers; null: it stays in the
  /// function that it is in. Returns the edge's counter where it may be cached: the code at `to`
  /// has its breakpoints.
  EdgeCounts::Edge* cross(Tracee& tracee, core::Address from, core::Address to, core::EdgeFlow flow,
                          core::TimePoint now, const ptrace::Registers* registers);
  /// Control starts at `pc`; where it comes from is unknown.
  void enter(Tracee& tracee, core::Address pc, core::TimePoint now,
             const ptrace::Registers* registers = nullptr);
  /// The thread's system call is over, and it is about to continue at `pc`, behind the call.
  static void return_from_syscall(Tracee& tracee, core::Address pc);

  /// Reads the process's maps, and delivers them after what was counted with the ones before.
  void read_maps(const TracedProcess& process, core::ThreadId thread);
  /// Delivers what was counted for the process.
  void flush(const TracedProcess& process, core::ThreadId thread);

 private:
  DynamicBlock& discover(Tracee& tracee, core::Address to);

  Outbox& outbox_;
  const CollectSwitch& collect_;
};

}  // namespace sp::supervisor
