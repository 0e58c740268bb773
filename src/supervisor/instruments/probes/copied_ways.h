#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/address.h"
#include "core/code_counts.h"
#include "core/function_copy.h"
#include "supervisor/instruments/probes/probed_block.h"

namespace sp::supervisor {

/// The direct ways on from a block of a function that runs from a copy, and how their counts follow
/// from counters. Indices are those of the copy's counters, the blocks' first.
struct CopiedWays {
  struct Way {
    core::Address to;
    core::EdgeFlow flow = core::EdgeFlow::jump;
    std::uint64_t taken = 0;  // of its count
  };
  core::Address from;        // the block's last instruction
  std::uint32_t block = 0;   // index
  std::uint32_t branch = 0;  // index of what counts the first way, if there are two
  bool is_by_block = false;  // `branch` is a block's
  std::uint32_t size = 0;    // ways: one or two
  std::array<Way, 2> ways;   // the first of two is the one that `branch` counts
};

/// Nothing if no way is direct, or if they are not counted.
[[nodiscard]] std::optional<CopiedWays> find_ways(const core::FunctionCopy& copy,
                                                  std::uint32_t index, const ProbedBlock& block);

}  // namespace sp::supervisor
