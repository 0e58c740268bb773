#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/function_copy.h"
#include "supervisor/instruments/probes/probed_thread.h"
#include "supervisor/tracees/tracee.h"
#include "supervisor/tracees/world_stop.h"

namespace sp::supervisor {

/// A copy that nobody runs yet.
struct PreparedCopy {
  std::uint32_t function = 0;  // its number
  std::shared_ptr<core::FunctionCopy> copy;
  std::uint32_t first_counter = 0;
  std::uint32_t counters = 0;
  core::AddressRange room;
  bool jumps_to_entry = false;  // the function itself does
};

/// One batch of functions that go from their probes to their copies while all threads are stopped,
/// or sleep. Runs on the ptrace thread.
class CopyInstallation {
 public:
  CopyInstallation(ProbedCode& code, TraceeTable& tracees, WorldStop& world,
                   std::vector<PreparedCopy> prepared)
      : code_(code), tracees_(tracees), world_(world), prepared_(std::move(prepared)) {}

  /// Changes the code, and moves the threads. Functions in which a thread is in the middle of a
  /// step of ours, or that cannot be written, are left out.
  void run(core::TimePoint now);

  [[nodiscard]] const std::vector<PreparedCopy>& left_out() const { return left_out_; }

 private:
  void leave_out_stepped();
  void leave_out(core::Address address);
  [[nodiscard]] const PreparedCopy* at(core::Address address) const;
  [[nodiscard]] bool write_copies();
  void note_probes();
  void replace_probes();
  [[nodiscard]] bool write_jumps();
  /// The functions have their probes again, and threads are in them.
  void take_back();
  /// A probe has counted the execution of the block that a thread at `pc` is in.
  [[nodiscard]] bool is_counted(const core::FunctionCopy& copy, core::Address pc) const;
  /// Those that it has not moved before.
  void move_threads();
  void move(const HeldThread& held);
  void adjust_sleepers();
  void stay_behind_call(const PreparedCopy& here, core::Address pc);

  ProbedCode& code_;
  TraceeTable& tracees_;
  WorldStop& world_;
  std::vector<PreparedCopy> prepared_;
  std::vector<PreparedCopy> left_out_;
  std::set<pid_t> moved_;
  /// By the start of each block that a probe has counted until now: the probe.
  std::unordered_map<core::Address, core::Address> probe_of_;
};

}  // namespace sp::supervisor
