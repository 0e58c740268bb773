#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/address.h"
#include "core/clock.h"
#include "core/code_counts.h"

namespace sp::core {

/// A block that has, or had, a probe of its own (default mode). `Where` is core::Address
/// (supervisor) or core::ModuleOffset (from the analyzer on).
template <typename Where>
struct ProbedBlock {
  Where start;
  std::uint32_t size = 0;  // bytes
  std::uint32_t instructions = 0;
  std::uint32_t last = 0;  // of its last instruction: bytes behind `start`
  /// It ends because the next instruction is a leader: all its hits go on there.
  bool falls_through = false;
  std::uint64_t hits = 0;  // since it was last told
  TimePoint first_hit;     // of those hits
  TimePoint last_hit;
  /// Every execution was counted from then on; nothing: from the process's first instruction.
  std::optional<TimePoint> since;
  /// And no more from then on: its probe was taken away, because it was hot.
  std::optional<TimePoint> until;
};

/// What default mode counted in a process since the last such event. A block may be told again:
/// its hits add up, its size (another leader was found in it) and times are the latest.
template <typename Where>
struct ProbedCode {
  std::vector<ProbedBlock<Where>> blocks;
  /// `from` is the last instruction of one of the blocks. No edges of blocks that fall through.
  std::vector<CodeEdge<Where>> edges;
};

}  // namespace sp::core
