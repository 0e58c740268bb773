#pragma once

#include <cstdint>
#include <vector>

#include "supervisor/instruments/probes/probed_block.h"

namespace sp::supervisor {

/// Chooses the blocks whose probes cost most. Pure.
class HotBlocks {
 public:
  void note_execution(ProbedBlock& block) {
    ++block.executions;
    if (block.hotness++ == 0) {
      executed_.push_back(block.number);
    }
  }

  /// The hottest blocks: without them at most `keep` (0..1) of the executions since the last call
  /// would have hit a probe. Hotness starts again at 0.
  [[nodiscard]] std::vector<std::uint32_t> take_hottest(ProbedBlocks& blocks, double keep);

 private:
  std::vector<std::uint32_t> executed_;  // blocks with a hotness above 0
};

/// The blocks with more than `share` of all executions of blocks with a probe, or none if all
/// those are at most `minimum`.
[[nodiscard]] std::vector<std::uint32_t> find_blocks_above(const ProbedBlocks& blocks, double share,
                                                           std::uint64_t minimum);

}  // namespace sp::supervisor
