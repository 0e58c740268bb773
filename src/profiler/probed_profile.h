#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/code_counts.h"
#include "core/messages.h"
#include "core/probed_code.h"
#include "profiler/edge_sums.h"
#include "profiler/id_index.h"

namespace sp::profiler {

/// Sums the counts of all probes over all processes of a run. Memory is bounded: blocks and edges
/// beyond the limits are not kept, and their hits are counted as dropped.
class ProbedProfile {
 public:
  static constexpr std::size_t kMaxBlocks = std::size_t{1} << 21U;

  /// `since` is the latest and `until` and `edges_until` the earliest that any process reported:
  /// `hits` has every execution of the block in between, in all processes.
  struct Block : core::ProbedBlock<core::ModuleOffset> {
    /// One process may execute as one block what another process (or the same one later) has
    /// split in two. The smaller block is kept; `widest` is the largest size reported, and
    /// `wide_hit` the last hit while the block was larger than `size`: until then the blocks
    /// within `widest` were not counted separately.
    std::uint32_t widest = 0;
    std::optional<core::TimePoint> wide_hit{};
  };
  using Edge = EdgeSums::Edge;

  explicit ProbedProfile(std::size_t max_blocks = kMaxBlocks,
                         std::size_t max_edges = EdgeSums::kMost)
      : max_blocks_(max_blocks), edges_(max_edges) {}

  void add(const core::ProbeCountsTaken& taken);
  void add(const core::CodeExplored& explored);
  /// Blocks stay: those that are not hit are not reported again.
  void forget_counts();

  /// Distinct by start; those that were never hit too.
  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }
  /// Distinct by from, to and flow; hits are above 0.
  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_.all(); }
  /// --coverage: the functions of the files, in no order; a file may have told them twice.
  [[nodiscard]] const std::vector<core::CoverableFunction<core::ModuleOffset>>& functions() const {
    return functions_;
  }
  /// The sum of what single steps showed.
  [[nodiscard]] const core::CodeExplored& explored() const { return explored_; }
  /// Of blocks and of edges.
  [[nodiscard]] std::uint64_t dropped_hits() const { return dropped_hits_ + edges_.dropped_hits(); }

 private:
  void add(const core::ProbedBlock<core::ModuleOffset>& reported);

  std::size_t max_blocks_;
  std::vector<Block> blocks_;
  EdgeSums edges_;
  std::vector<core::CoverableFunction<core::ModuleOffset>> functions_;
  IdIndex block_index_;
  core::CodeExplored explored_;
  std::uint64_t dropped_hits_ = 0;
};

}  // namespace sp::profiler
