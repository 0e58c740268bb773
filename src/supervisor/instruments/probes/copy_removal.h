#pragma once

#include <vector>

#include "core/address.h"
#include "supervisor/copies/copied_functions.h"
#include "supervisor/instruments/probes/probed_thread.h"
#include "supervisor/tracees/tracee.h"
#include "supervisor/tracees/world_stop.h"

namespace sp::supervisor {

/// Functions go back from their copies to the original code, without probes, while all threads are
/// stopped, or sleep. Runs on the ptrace thread.
class CopyRemoval {
 public:
  CopyRemoval(ProbedCode& code, TraceeTable& tracees, WorldStop& world)
      : code_(code), tracees_(tracees), world_(world) {}

  /// False if code could not be written: then the functions still run from their copies.
  bool run(const std::vector<CopiedFunctions::Copy>& copies);
  /// The same where no jump leads to the copies: threads leave them, and counting there ends.
  void end(const std::vector<CopiedFunctions::Copy>& copies);
  /// The functions have probes again: threads in front of the probe of a block that is counted
  /// already will be counted once more.
  void uncount_ahead(const std::vector<CopiedFunctions::Copy>& copies);

 private:
  /// Where threads go on, one for each.
  [[nodiscard]] std::vector<core::Address> places() const;
  void leave_second_jumps(const std::vector<CopiedFunctions::Copy>& copies);
  void leave_copies();

  ProbedCode& code_;
  TraceeTable& tracees_;
  WorldStop& world_;
};

}  // namespace sp::supervisor
