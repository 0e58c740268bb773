#pragma once

#include "supervisor/instruments/probes/hit_counter.h"
#include "supervisor/instruments/probes/probe_maintenance.h"
#include "supervisor/instruments/probes/probed_thread.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// Serves the threads that come to a gate (SyscallGates), and to handlers that block SIGTRAP. Runs
/// on the ptrace thread.
class GateKeeper {
 public:
  GateKeeper(ProbeMaintenance& maintenance, const ProbeCosts& costs, bool keeps_all)
      : maintenance_(maintenance), costs_(costs), keeps_all_(keeps_all) {}

  /// The thread stands at the gate, pc on it. True where the call is made: the registers are those
  /// behind it. False where the thread has to execute the instruction under the gate.
  [[nodiscard]] bool serve(Tracee& tracee, BreakpointSite& gate, ptrace::Registers& registers);

  /// Before a signal is delivered: true where the delivery has to be a step.
  [[nodiscard]] static bool begin_delivery(Tracee& tracee, int signal);
  /// That step has ended, at a handler or, `at_handler` false, somewhere else.
  static void end_delivery(Tracee& tracee, bool at_handler);
  /// The thread is in another stop than on_trap() has to do with. True where there was a delivery:
  /// it is at an end.
  static bool break_off_delivery(Tracee& tracee);

 private:
  enum class Made { no, yes };
  [[nodiscard]] Made make_call(Tracee& tracee, const SyscallRequest& call,
                               const ptrace::Registers& registers);
  void give_up_where_hot(Tracee& tracee);

  ProbeMaintenance& maintenance_;
  const ProbeCosts& costs_;
  bool keeps_all_;
};

}  // namespace sp::supervisor
