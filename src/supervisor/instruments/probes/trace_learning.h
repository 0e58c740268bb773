#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/call_cost.h"
#include "core/clock.h"
#include "supervisor/instruments/code_analysis.h"
#include "supervisor/instruments/probes/probe_costs.h"
#include "supervisor/instruments/probes/probed_code.h"
#include "supervisor/instruments/probes/thread_trace.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// --learn: watches what the calls of each function cost, from the first one on for some time, in
/// which --overhead does not hold, and takes their places away from those that
/// CodeAnalysis::learn() names, in all processes. In some steps: what stops cost beside what is
/// charged seems to be the target's own time, until the worst functions are gone. Runs on the
/// ptrace thread, but for dropped().
class TraceLearning {
 public:
  TraceLearning(core::Duration time, CodeAnalysis& analysis, ProbeCosts& costs,
                TraceeTable& tracees);

  /// Functions are watched.
  [[nodiscard]] bool is_on() const { return !is_over_; }
  /// A thread is at a place of the function.
  void note_hit(ProbedCode& code, const ProbedFunction& function, bool is_call);
  void note_ended(ProbedCode& code, const ThreadTrace::EndedCall& call);
  /// The hit is over, and the thread runs again: charges it. Decides if that is due.
  void end_hit(const Tracee& tracee);
  /// Tells the analysis what was seen so far, if the time is not over.
  void tell();
  /// The function is one of those that lost their places.
  [[nodiscard]] bool has_dropped(ProbedCode& code, const ProbedFunction& function);

  /// Functions that lost their places. Any thread.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  struct Row {
    std::size_t file = 0;  // of files_
    core::CallCost calls{};
    bool is_dropped = false;
  };

  [[nodiscard]] std::optional<std::size_t> row_of(ProbedCode& code, const ProbedFunction& function);
  void add_open_calls(core::TimePoint now);
  /// Returns which rows are not to be seen any more.
  std::vector<std::size_t> ask(bool is_decided);
  void begin_step(core::TimePoint now);
  void decide(core::TimePoint now);
  void drop_in(ProbedCode& code);

  static constexpr int kSteps = 4;

  const core::Duration time_;
  CodeAnalysis& analysis_;
  ProbeCosts& costs_;
  TraceeTable& tracees_;
  bool is_over_ = false;
  std::optional<core::TimePoint> began_{};  // at the first hit
  core::TimePoint step_began_{};
  core::Duration target_cpu_{};  // then
  std::vector<CodeAnalysis::File> files_;
  std::map<std::pair<std::string, std::string>, std::size_t> file_numbers_;   // by identity, path
  std::map<std::pair<std::size_t, std::uint64_t>, std::size_t> row_numbers_;  // by file, address
  std::vector<Row> rows_;
  std::optional<std::size_t> current_{};                 // row of the hit that is being served
  std::unordered_map<pid_t, core::Duration> of_no_row_;  // of a thread: hits in several stops
  std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace sp::supervisor
