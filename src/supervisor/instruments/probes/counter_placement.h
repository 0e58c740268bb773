#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/address.h"
#include "core/instruction.h"

namespace sp::supervisor {

/// A block of a function, as far as it matters for what can be derived.
struct FlowBlock {
  core::Address start;
  std::uint32_t size = 0;  // bytes
  core::Instruction last;
  bool falls_through = false;
  /// Its probe tells how often control went to each block behind it.
  bool tells = false;
  /// Control may come from where nobody looks: the function's entry, a landing pad.
  bool is_entry = false;
};

/// A block whose executions are the sum of what came into it. Indices of the given blocks.
struct DerivableBlock {
  std::size_t block = 0;
  std::vector<std::size_t> from;    // that must be counted for it to be right
  std::vector<std::size_t> before;  // of them, those that fall through to it: without an edge
};

/// The blocks of one function that need no probe: control comes into them from blocks of the
/// function that tell it, and leaves them for one block of it. In an order in which each comes
/// behind those that it needs, so none is in a circle of such blocks.
[[nodiscard]] std::vector<DerivableBlock> find_derivable(std::span<const FlowBlock> blocks);

}  // namespace sp::supervisor
