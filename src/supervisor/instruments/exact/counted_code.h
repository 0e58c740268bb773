#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/address.h"
#include "core/code_counts.h"
#include "core/ids.h"
#include "core/instruction.h"
#include "core/messages.h"
#include "supervisor/breakpoints/breakpoint_table.h"
#include "supervisor/breakpoints/edge_counts.h"
#include "supervisor/guardian/guardian.h"

namespace sp::supervisor {

/// A straight piece of code from where control once came in.
struct Run {
  std::vector<std::uint8_t> lengths;
  core::Address last;    // its last instruction so far
  core::Address behind;  // the first byte behind that
  enum class End : std::uint8_t {
    transfer,  // at an instruction that ends a block
    call,      // at a system call that nobody has come back from yet
    nowhere,   // at what is no instruction
  };
  End end = End::nowhere;
  /// Nothing may be planted in it: threads must be stepped through.
  bool stepped = false;
  bool told = false;
};

/// The code of one address space that was executed: its runs, the breakpoints at their ends, and
/// what was counted. Shared by processes that share their memory (vfork). Runs on the ptrace
/// thread.
///
/// Bytes are decoded only from where control has really come: at a system call a run ends for the
/// time being, because nobody knows whether there is code behind an exit or a sigreturn.
class CountedCode : public BreakpointTable {
 public:
  /// `tid` is any thread of the process. With `plants` false every run is to be stepped.
  CountedCode(core::ProcessId owner, pid_t tid, bool plants, Guardian& guardian)
      : BreakpointTable(owner, tid, plants, guardian) {}
  /// A forked child's, as BreakpointTable's.
  CountedCode(core::ProcessId owner, pid_t tid, const CountedCode& parent, std::uint64_t certain)
      : BreakpointTable(owner, tid, parent, certain),
        came_back_to_(parent.came_back_to_),
        gates_(parent.gates_) {}

  [[nodiscard]] bool needs_maps(core::Address address) const {
    return maps_are_old() || regions().at(address) == CodeKind::not_executable;
  }

  /// Control is about to come to `start`: makes the run there known and plants its end. It stays
  /// where it is until forget().
  Run& arrive(core::Address start);
  /// It is known, as it is now.
  [[nodiscard]] Run* find(core::Address start);
  /// A thread came back from a system call to `address`. True where the code that follows has
  /// to be stepped through.
  bool come_back(core::Address address);

  /// The system call in front of `behind` changes signal masks: it gets a breakpoint, too. Were we
  /// killed, no thread could block SIGTRAP before the guardian has taken away all others.
  void gate(core::Address behind);

  [[nodiscard]] EdgeCounts& edges() { return edges_; }
  /// What was seen and counted since the last call.
  [[nodiscard]] core::CodeCounted take();

  /// Knows nothing of a piece any more: its memory is gone. What was counted must have been taken.
  void forget(core::AddressRange range);

 private:
  void extend(Run& run, core::Address start);
  bool extend_by_sequence(Run& run, const core::Instruction& first);
  bool plant_at(const core::Instruction& instruction);

  std::unordered_map<core::Address, Run> runs_;
  std::vector<core::Address> untold_;  // starts of runs
  /// Where runs end at a system call: the address behind it, and the run's start.
  std::unordered_multimap<core::Address, core::Address> open_;
  std::unordered_set<core::Address> came_back_to_;
  std::unordered_set<core::Address> gates_;  // also those that were lifted for good
  EdgeCounts edges_;
};

}  // namespace sp::supervisor
