#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/address.h"
#include "core/instruction.h"

namespace sp::supervisor {

/// A block of a function's control-flow graph.
struct FlowBlock {
  core::Address start;
  std::uint32_t size = 0;  // bytes
  core::Instruction last;
  bool falls_through = false;
  /// Its probe counts each of its outgoing edges.
  bool counts_edges = false;
  /// Control may come from code without probes: the function's entry, a landing pad.
  bool is_entry = false;
};

/// A block whose count is the sum of the counts of its incoming edges. Indices of the given blocks.
struct DerivableBlock {
  std::size_t block = 0;
  std::vector<std::size_t> predecessors;              // must all be counted for it to be right
  std::vector<std::size_t> fallthrough_predecessors;  // of them, those whose edge has no count
};

/// Counter placement, as in Knuth's and Ball and Larus's algorithms but local: the blocks of one
/// function that need no probe. All predecessors of such a block are in the function and count
/// their outgoing edges, and it has one successor, in the function. Each comes after the derivable
/// blocks that it depends on; a cycle of blocks keeps at least one probe.
[[nodiscard]] std::vector<DerivableBlock> find_derivable(std::span<const FlowBlock> blocks);

}  // namespace sp::supervisor
