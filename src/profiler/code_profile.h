#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/code_counts.h"
#include "core/messages.h"
#include "profiler/edge_sums.h"
#include "profiler/id_index.h"

namespace sp::profiler {

/// Sums counted code over all processes of a run, by module. Memory is bounded: runs and edges
/// beyond the limits are not kept, and their hits are counted as dropped.
class CodeProfile {
 public:
  static constexpr std::size_t kMaxRuns = std::size_t{1} << 21U;
  static constexpr std::size_t kMaxInstructions = std::size_t{1} << 27U;  // of all runs

  struct Run {
    core::ModuleOffset start;
    std::uint32_t first_length = 0;  // where its instructions begin in the pool of lengths
    std::uint32_t instructions = 0;
  };
  using Edge = EdgeSums::Edge;

  explicit CodeProfile(std::size_t max_runs = kMaxRuns, std::size_t max_edges = EdgeSums::kMost)
      : max_runs_(max_runs), edges_(max_edges) {}

  void add(const core::CodeCountsTaken& taken);
  /// Runs stay: they are not reported again.
  void forget_counts();

  /// Distinct by start. If the code at a start changed, the run that was reported last.
  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }
  [[nodiscard]] std::span<const std::uint8_t> lengths(const Run& run) const {
    return std::span(lengths_).subspan(run.first_length, run.instructions);
  }
  /// The run that starts there, or nullptr.
  [[nodiscard]] const Run* run_at(core::ModuleOffset start) const;
  /// Distinct by from, to and flow; hits are above 0.
  [[nodiscard]] const std::vector<Edge>& edges() const { return edges_.all(); }
  [[nodiscard]] std::uint64_t dropped_hits() const { return edges_.dropped_hits(); }
  [[nodiscard]] std::uint64_t dropped_runs() const { return dropped_runs_; }
  [[nodiscard]] std::uint64_t changed_runs() const { return changed_runs_; }

 private:
  void add(const core::DynamicBlock<core::ModuleOffset>& run);
  [[nodiscard]] std::uint32_t find_run(core::ModuleOffset start) const;

  std::size_t max_runs_;
  std::vector<Run> runs_;
  std::vector<std::uint8_t> lengths_;
  EdgeSums edges_;
  IdIndex run_index_;
  std::uint64_t dropped_runs_ = 0;
  std::uint64_t changed_runs_ = 0;
};

}  // namespace sp::profiler
