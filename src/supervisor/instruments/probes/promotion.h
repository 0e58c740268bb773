#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <tl/expected.hpp>
#include <vector>

#include "core/clock.h"
#include "core/function_copy.h"
#include "core/run_facts.h"
#include "supervisor/instruments/code_analysis.h"
#include "supervisor/instruments/probes/copied_threads.h"
#include "supervisor/instruments/probes/copy_installer.h"
#include "supervisor/instruments/probes/copy_place.h"
#include "supervisor/instruments/probes/probe_costs.h"
#include "supervisor/instruments/probes/probed_thread.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// Chooses the functions that are to run from instrumented copies, which count their blocks in the
/// target itself, and has the copies made. Runs on the ptrace thread, but for fill().
class Promotion {
 public:
  /// `is_wanted` false: nothing is ever promoted.
  /// `keeps_all`: whatever that costs.
  Promotion(CodeAnalysis& analysis, ProbeCosts& costs, TraceeTable& tracees, bool is_wanted,
            bool keeps_all)
      : analysis_(analysis),
        costs_(costs),
        tracees_(tracees),
        installer_(tracees),
        is_wanted_(is_wanted),
        keeps_all_(keeps_all) {}

  [[nodiscard]] bool is_wanted() const { return is_wanted_; }
  /// The thread is stopped with the registers that it goes on with, in a stop in which it can make
  /// system calls. Promotes the functions that are due.
  void run(Tracee& tracee, core::TimePoint now);
  /// A function gets its copy when control first comes to it, and no probes. That takes less than
  /// probes until it is due; where other threads have to stop for it, half of the time may go
  /// there.
  [[nodiscard]] bool is_at_once(const Tracee& tracee, core::TimePoint now) const;
  /// run(), for that function.
  void run_at_once(Tracee& tracee, ProbedFunction& function, core::TimePoint now);
  /// A thread came to the copy by a breakpoint at that address, and stands in it. Where that takes
  /// more than the budget allows, the function is not counted any more.
  void note_landing(const Tracee& tracee, core::Address landing, core::TimePoint now);
  /// Where copies cost more than the budget allows, the dearest ones are given up. Call it after
  /// what they have counted was charged. The thread is the one whose stop is being handled.
  void keep_to_budget(const Tracee& tracee, core::TimePoint now);
  /// Functions in the range get their probes again, and no more copies. The thread is the one whose
  /// stop is being handled.
  void demote(const Tracee& stopped, core::AddressRange range) {
    installer_.remove(stopped, range);
  }
  /// See CopyInstaller::give_counters().
  void give_counters(const Tracee& tracee, bool can_call) {
    installer_.give_counters(tracee, can_call);
  }
  /// See CopyInstaller::leave_counter_segment().
  void leave_counter_segment(const Tracee& tracee) { installer_.leave_counter_segment(tracee); }
  /// The thread, which may be in a copy, is about to get the signal. Returns what it gets: nothing
  /// (0) if that came of a copy, and never will again.
  [[nodiscard]] int prepare_for_signal(const Tracee& tracee, int signal);
  /// Nothing of the process runs from copies any more; see CopyInstaller::remove_all().
  void demote_all(const TracedProcess& process, const Tracee* stopped) {
    installer_.remove_all(process, stopped);
  }

  /// Any thread.
  void fill(core::Copying& copying) const;

 private:
  template <typename T>
  using OrRefusal = tl::expected<T, core::CopyRefusal>;

  [[nodiscard]] bool copy_counts_transfers(Tracee& tracee, const ProbedFunction& function);
  [[nodiscard]] std::vector<PreparedCopy> prepare_all(Tracee& tracee,
                                                      std::span<const std::uint32_t> functions);
  [[nodiscard]] CopyDetail detail_of_copies(ProbedCode& code) const;
  [[nodiscard]] OrRefusal<PreparedCopy> prepare(Tracee& tracee, ProbedFunction& function);

  CodeAnalysis& analysis_;
  ProbeCosts& costs_;
  TraceeTable& tracees_;
  CopyInstaller installer_;
  bool is_wanted_;
  bool keeps_all_;
  core::TimePoint next_;
  core::TimePoint next_try_;
  std::atomic<std::uint64_t> promoted_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::array<std::atomic<std::uint64_t>, core::kCopyRefusals> refused_{};
};

}  // namespace sp::supervisor
