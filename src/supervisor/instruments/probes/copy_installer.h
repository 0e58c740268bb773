#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "supervisor/instruments/probes/copy_installation.h"
#include "supervisor/instruments/probes/probed_thread.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// Puts functions under all threads of an address space from their probes to their copies, and
/// back. Runs on the ptrace thread.
class CopyInstaller {
 public:
  explicit CopyInstaller(TraceeTable& tracees) : tracees_(tracees) {}

  /// Every thread that may run has counters. Makes them if there are none yet: then sleepers are
  /// woken, and it is false for a moment.
  [[nodiscard]] bool has_counters(Tracee& tracee);
  /// Gives a stopped thread its counters if its process has some, as each thread needs before its
  /// first instruction. Where there are none left and no more can be made, nothing of the process
  /// runs from copies any more. `can_call`: the thread can make system calls in this stop.
  void give_counters(const Tracee& tracee, bool can_call);
  /// The program uses the segment of the counters itself: nothing of the process runs from copies
  /// any more. The thread is the one whose stop is being handled, and has its own base then.
  void leave_counter_segment(const Tracee& tracee);
  /// Installs the copies; returns those that could not be installed now.
  [[nodiscard]] std::vector<PreparedCopy> install(Tracee& tracee,
                                                  std::vector<PreparedCopy> prepared,
                                                  core::TimePoint now);
  /// No function of the process runs from a copy any more. `stopped`: the thread whose stop is
  /// being handled, or null. Where its threads cannot be stopped the original code is put back all
  /// the same, and those in copies go on in them until they leave.
  void remove_all(const TracedProcess& process, const Tracee* stopped);
  /// Functions in a range run from their originals again, with probes, and no function there gets a
  /// copy from now on: the program may write to its code. The thread is the one whose stop is being
  /// handled.
  void remove(const Tracee& stopped, core::AddressRange range);
  /// The functions (numbers), which run from copies, run from their originals again, and are not
  /// counted any more. False if that was not possible now.
  bool drop(const Tracee& stopped, const std::vector<std::uint32_t>& functions,
            core::TimePoint now);
  /// Makes the original of a copied function executable from `pc` on to its next landing: the jumps
  /// there become breakpoints. The thread is the one whose stop is being handled.
  void give_way(const Tracee& tracee, const core::FunctionCopy& copy, core::Address pc);
  /// Gives back what a copy has that is not installed.
  static void discard(ProbedCode& code, const PreparedCopy& prepared);

 private:
  bool create_counters(Tracee& tracee);
  void refuse(const Tracee& tracee, std::string_view why);
  [[nodiscard]] core::Result<void> make_enough_counters(const Tracee& tracee) const;
  /// Whether each thread of the address space has counters, or gets them before it runs.
  [[nodiscard]] bool have_all_counters(const Tracee& tracee) const;
  [[nodiscard]] bool counts_all_threads(const Tracee& tracee) const;

  TraceeTable& tracees_;
};

}  // namespace sp::supervisor
