#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/address.h"
#include "core/clock.h"
#include "core/code_counts.h"
#include "core/instruction.h"

namespace sp::core {

/// A block that has, or had, a probe of its own (default mode). `Where` is core::Address
/// (supervisor) or core::ModuleOffset (from the analyzer on).
template <typename Where>
struct ProbedBlock {
  Where start;
  std::uint32_t size = 0;  // bytes
  std::uint32_t instructions = 0;
  std::uint32_t last = 0;  // offset of its last instruction from `start`
  /// It ends because the next instruction is a leader: all its executions continue there.
  bool falls_through = false;
  std::uint64_t hits = 0;  // since it was last reported
  TimePoint first_hit;     // of those hits
  TimePoint last_hit;
  /// When counting began; nothing if every execution since the process's start was counted.
  std::optional<TimePoint> since;
  /// When counting ended because the probe was hot and was removed.
  std::optional<TimePoint> until;
  /// When its edges ceased to be counted, but not its hits: since then it runs from a copy.
  std::optional<TimePoint> edges_until;
  /// From then on some of its executions came from its own function by a jump.
  bool is_jumped_to = false;
  /// --coverage: another process of the run, or an earlier run, has reached it; it has no probe.
  bool is_known = false;
  Flow flow = Flow::next;  // of its last instruction, and where that leads, from `start`
  std::optional<std::int64_t> leads_to{};
};

/// A function of a file of which coverage is wanted, whether it is entered or not.
template <typename Where>
struct CoverableFunction {
  Where start;
  std::uint64_t size = 0;            // bytes
  std::optional<TimePoint> until{};  // from then on an entry was not seen
};

/// What default mode counted in a process since the last such event. A block may be reported again:
/// its hits add up; its size (smaller if another leader was found in it) and times are the latest.
template <typename Where>
struct ProbedCode {
  std::vector<ProbedBlock<Where>> blocks;
  /// `from` is the last instruction of one of the blocks. Blocks that fall through have no edges.
  std::vector<CodeEdge<Where>> edges;
  /// With --coverage, in which `hits` is 1 where a block was reached: once for each file.
  std::vector<CoverableFunction<Where>> functions;
};

}  // namespace sp::core
