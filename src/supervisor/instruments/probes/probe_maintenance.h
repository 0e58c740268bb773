#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>

#include "core/messages.h"
#include "supervisor/instruments/instrument.h"
#include "supervisor/instruments/probes/exploration.h"
#include "supervisor/instruments/probes/hit_counter.h"
#include "supervisor/instruments/probes/module_probes.h"
#include "supervisor/instruments/probes/probe_costs.h"
#include "supervisor/instruments/probes/promotion.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// Sees to it that the kernel does not block SIGTRAP in a stopped thread of a process with a trap
/// handler. True where it did.
bool unblock_trap(const TracedProcess& process, pid_t tid, ProbedThread& thread);
/// The same in the thread's first stop in which its mask can be looked at.
void unblock_trap_first(const Tracee& tracee, UserStop stop);

/// The process has no breakpoints any more: a stopped thread gets the mask that it has set. If a
/// trap of one is pending, not before that is reported.
void give_mask_back(Tracee& tracee);
/// The same if the process has none.
void give_mask_back_if_bare(Tracee& tracee);

/// Does the pending work of a process with probes at stops that no probe has caused: begins it,
/// keeps the trap handler in place, serves requests that had to wait. Runs on the ptrace thread.
class ProbeMaintenance {
 public:
  ProbeMaintenance(ModuleProbes& modules, ProbeCosts& costs, HitCounter& counter,
                   Exploration& exploration, Promotion& promotion)
      : modules_(modules),
        costs_(costs),
        counter_(counter),
        exploration_(exploration),
        promotion_(promotion) {}

  /// The thread is stopped for a sample, or for the first time.
  void run(Tracee& tracee, bool was_sampled);
  /// The analyzer wants probes; what the budget does not allow now is served later.
  void serve(const core::ProbeFunctions& wanted, TracedProcess& process);
  /// A program is traced that has no probes yet.
  void note_program() const { ++programs_; }
  /// Programs that have got no probes, most of them because they ended before their first sample.
  /// Any thread.
  [[nodiscard]] std::uint64_t uncounted_programs() const { return programs_ - begun_; }
  /// The target handles SIGTRAP itself.
  void remove_all_probes(const Tracee& tracee) { give_up(tracee, "handles SIGTRAP by now"); }
  /// The code in the range may become other code, which no copy follows: what is there is executed.
  void expect_writes(const Tracee& tracee, core::AddressRange range) {
    promotion_.demote(tracee, range);
    modules_.expect_writes(*tracee.process, tracee.id.tid, range);
  }
  /// The program uses the copies' counter segment itself.
  void leave_counter_segment(const Tracee& tracee) { promotion_.leave_counter_segment(tracee); }
  /// Removes every breakpoint of the process, which does what `reason` says.
  /// Nothing of the process runs from copies any more. No stop is being handled.
  void leave_copies(const TracedProcess& process) { promotion_.demote_all(process, nullptr); }
  void give_up(const Tracee& tracee, std::string_view reason);
  /// The same where its probes cost too much beside counting.
  void give_up_where_dear(const Tracee& tracee);
  /// The stopped thread can make system calls, and its process was given up. Where nobody else has
  /// its memory, leaves nothing there, so that its children do not have it either, and no
  /// code_state.
  void leave_program(Tracee& tracee, const std::function<bool()>& make_detachable);

 private:
  void keep_handler(const Tracee& tracee);
  void charge_copies(const Tracee& tracee);
  [[nodiscard]] bool is_worth_probes(const TracedProcess& process) const;

  ModuleProbes& modules_;
  ProbeCosts& costs_;
  HitCounter& counter_;
  Exploration& exploration_;
  Promotion& promotion_;
  mutable std::atomic<std::uint64_t> programs_{0};
  std::atomic<std::uint64_t> begun_{0};
};

}  // namespace sp::supervisor
