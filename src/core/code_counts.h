#pragma once

#include <cstdint>
#include <vector>

#include "core/address.h"
#include "core/clock.h"

namespace sp::core {

/// How control came over an edge.
enum class EdgeFlow : std::uint8_t {
  jump,         // direct, unconditional
  taken,        // conditional, taken
  fallthrough,  // conditional, not taken; or a block that ends before a leader (derived)
  call,         // direct or indirect
  indirect,     // indirect jump
  ret,
  entry,  // from outside of the counted code: a thread's start, a signal handler, an attach
};

/// A straight run of instructions as it was executed: from where control came in to the
/// instruction that ends it. Runs may overlap: a jump into the middle of one is another run with
/// the same end. It may be told again, longer, when a thread has come back from a system call in it
/// that was its end so far. `Where` is core::Address (supervisor) or core::ModuleOffset (from the
/// analyzer on).
template <typename Where>
struct DynamicBlock {
  Where start;
  std::vector<std::uint8_t> lengths;  // bytes of each instruction, the last one ends the run

  bool operator==(const DynamicBlock&) const = default;
};

/// Transfers counted since the last report. `from` is the instruction that transferred; for
/// EdgeFlow::entry it is `to`. Every `to` is the start of a DynamicBlock that is or was reported.
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
