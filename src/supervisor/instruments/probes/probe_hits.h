#pragma once

#include <optional>

#include "core/address.h"
#include "core/clock.h"
#include "supervisor/instruments/probes/exploration.h"
#include "supervisor/instruments/probes/gate_keeper.h"
#include "supervisor/instruments/probes/hit_counter.h"
#include "supervisor/instruments/probes/module_probes.h"
#include "supervisor/instruments/probes/probe_costs.h"
#include "supervisor/instruments/probes/probed_thread.h"
#include "supervisor/instruments/probes/promotion.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// Serves the threads that come to a breakpoint of ours, to the end of the step that it may need.
/// Runs on the ptrace thread.
class ProbeHits {
 public:
  ProbeHits(ModuleProbes& modules, ProbeCosts& costs, HitCounter& counter, Exploration& exploration,
            GateKeeper& gates, Promotion& promotion)
      : modules_(modules),
        costs_(costs),
        counter_(counter),
        exploration_(exploration),
        gates_(gates),
        promotion_(promotion) {}

  /// `registers` are the thread's in its trap.
  void on_breakpoint(Tracee& tracee, BreakpointSite& site, ptrace::Registers& registers,
                     core::TimePoint now);
  /// The end of a displaced step, or of one in a window of single steps.
  void on_step(Tracee& tracee, ptrace::Registers& registers, core::TimePoint now);
  /// Lets the thread run, or step where it is in the middle of that.
  static void continue_thread(const Tracee& tracee);

 private:
  /// Control comes to code for the first time; its probe goes, and the thread executes it. False
  /// where the breakpoint stays for something else.
  [[nodiscard]] bool on_new_code(Tracee& tracee, BreakpointSite& site, ptrace::Registers& registers,
                                 core::TimePoint now);
  /// Control comes to a function that is not mapped yet.
  void on_entry(Tracee& tracee, BreakpointSite& site, ptrace::Registers& registers,
                core::TimePoint now);
  void on_library_event(Tracee& tracee, BreakpointSite& site, ptrace::Registers& registers);
  /// False where the breakpoint is a probe, too, whose hit is still to be counted.
  bool on_gate(Tracee& tracee, BreakpointSite& site, ptrace::Registers& registers);
  void on_landing(Tracee& tracee, const BreakpointSite& site, ptrace::Registers& registers,
                  core::TimePoint now);
  /// The thread has executed the instruction at `site`, before which its stack pointer was `sp`,
  /// and goes on at `to`; nothing: at the next one.
  void count(Tracee& tracee, BreakpointSite& site, core::Address sp,
             std::optional<core::Address> to, core::TimePoint now);
  /// The thread has to execute the instruction itself.
  void execute_displaced(Tracee& tracee, BreakpointSite& site, ptrace::Registers& registers,
                         core::TimePoint now);

  ModuleProbes& modules_;
  ProbeCosts& costs_;
  HitCounter& counter_;
  Exploration& exploration_;
  GateKeeper& gates_;
  Promotion& promotion_;
};

}  // namespace sp::supervisor
