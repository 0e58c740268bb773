#pragma once

#include <cstdint>
#include <vector>

#include "core/address.h"
#include "core/clock.h"

namespace sp::core {

/// How control passed along an edge.
enum class EdgeFlow : std::uint8_t {
  jump,         // direct, unconditional
  taken,        // conditional, taken
  fallthrough,  // conditional, not taken; or from a block that ends before a leader (derived)
  call,         // direct or indirect
  indirect,     // indirect jump
  ret,
  entry,  // from code that is not counted: a thread's start, a signal handler, an attach
};

/// A dynamic basic block: the straight-line instructions from where control entered to the
/// instruction that transfers it. Blocks may overlap: a jump into the middle of one makes another
/// with the same end. A block may be reported again, longer: it first ends at a system call, and
/// continues behind it once a thread has returned from that call. `Where` is core::Address
/// (supervisor) or core::ModuleOffset (from the analyzer on).
template <typename Where>
struct DynamicBlock {
  Where start;
  std::vector<std::uint8_t> lengths;  // bytes of each instruction; the last one ends the block

  bool operator==(const DynamicBlock&) const = default;
};

/// Transfers counted since the last report. `from` is the instruction that transferred; for
/// EdgeFlow::entry it equals `to`. Every `to` starts a DynamicBlock that is or was reported.
template <typename Where>
struct CodeEdge {
  Where from;
  Where to;
  EdgeFlow flow = EdgeFlow::jump;
  std::uint64_t hits = 0;
  TimePoint first;
  TimePoint last;
};

}  // namespace sp::core
