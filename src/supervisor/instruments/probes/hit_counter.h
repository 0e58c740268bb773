#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "core/address.h"
#include "core/clock.h"
#include "core/run_facts.h"
#include "supervisor/instruments/probes/probe_costs.h"
#include "supervisor/instruments/probes/probed_thread.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// What a probe's hit counts: its block, and the edge to where its instruction sends the thread.
/// Maps functions when control comes to them, and removes probes that have become hot. Runs on the
/// ptrace thread, but for fill().
class HitCounter {
 public:
  HitCounter(ProbeCosts& costs, bool keep_hot_probes)
      : costs_(costs), keep_hot_probes_(keep_hot_probes) {}

  void count_block(const Tracee& tracee, const BreakpointSite& site, core::TimePoint now);
  /// A hit that counts for nothing else.
  void note_hit() { hits_.fetch_add(1, std::memory_order_relaxed); }
  /// See coverage.h.
  [[nodiscard]] bool reach_block(ProbedCode& code, BreakpointSite& site, core::TimePoint now);
  /// The thread ends where it is: if it has begun a block, and the probe is still ahead, it counts.
  static void count_last_block(const Tracee& tracee, core::TimePoint now);
  /// Undoes the last count of the block at `site`: its instruction is still to be executed.
  static void take_back(const Tracee& tracee, core::Address site);
  /// A thread that runs freely through the relocated copy of a probe's instruction is put to the
  /// original one, or behind it.
  static void leave_displaced_instruction(const Tracee& tracee);
  /// Control goes from the probe's instruction to `to`. Maps what is new there.
  void count_edge(const Tracee& tracee, BreakpointSite& site, core::Address to,
                  core::TimePoint now);
  /// Control comes to a function that is not mapped yet: gives its blocks probes, or, where the
  /// budget is used up, takes the entry probes of all such functions away.
  void enter_function(ProbedCode& code, core::Address entry);
  /// ProbedCode::instrument_function(), and its cost.
  void discover(ProbedCode& code, core::Address address, std::optional<core::TimePoint> unseen);
  /// The hit that was heard of at `heard` is over: the thread runs again. Charges it, and from time
  /// to time removes hot probes. `counts` false: it was at a gate.
  void end_hit(Tracee& tracee, core::TimePoint heard, bool counts = true);

  /// The target waited so long, on a CPU, until we had read what its copies wrote.
  void add_waiting(core::Duration time) const { costs_.add_copies(time); }
  void note_totals(const ProbedCode& code);
  /// Any thread.
  void fill(core::Probing& probing) const;

 private:
  void remove_hot_probes(ProbedCode& code);

  ProbeCosts& costs_;
  bool keep_hot_probes_;
  std::atomic<std::uint64_t> hits_{0};
  std::atomic<std::uint64_t> functions_{0};
  std::atomic<std::uint64_t> inserted_{0};
  std::atomic<std::uint64_t> derived_{0};
  std::atomic<std::uint64_t> removed_{0};
};

}  // namespace sp::supervisor
