#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/address.h"
#include "core/clock.h"
#include "supervisor/breakpoints/edge_counts.h"
#include "supervisor/instruments/probes/probed_block.h"
#include "supervisor/instruments/probes/probed_function.h"

namespace sp::supervisor {

/// The derived blocks of one address space: they have no probe, because their counts follow from
/// the counts of their predecessors. Owns what is needed to compute those counts, and the edges
/// that were counted or computed until they are reported. Pure.
class CountPropagation {
 public:
  using Edge = EdgeCounts::Edge;
  using HasBreakpoint = std::function<bool(core::Address)>;

  /// A forked child's: the same derived blocks, nothing counted.
  [[nodiscard]] CountPropagation forked() const;

  /// Chooses anew which of the function's blocks are derived; see counter_placement.h. One whose
  /// probe `has_breakpoint` stays as it is.
  void choose_derived(const ProbedFunction& function, ProbedBlocks& blocks,
                      const HasBreakpoint& has_breakpoint);
  /// Adds what follows from `counted`, all edges counted since the last call, and from the probes'
  /// hits to the derived blocks and to their outgoing edges.
  void propagate(std::vector<Edge> counted, ProbedBlocks& blocks);
  /// Derived blocks with a predecessor that is not counted any more are not counted from `now`.
  void end_uncounted(const ProbedFunction& function, ProbedBlocks& blocks, core::TimePoint now);
  /// The code in `mapped` is unmapped.
  void forget(core::AddressRange mapped);

  /// All propagated edges since the last call.
  [[nodiscard]] std::vector<Edge> take_edges();
  /// Blocks that were derived when their functions were last looked at.
  [[nodiscard]] std::uint64_t derived() const { return derived_; }

 private:
  struct DerivedBlock {
    std::uint32_t number = 0;
    std::vector<std::uint32_t> predecessors;  // as DerivableBlock's
    std::vector<std::uint32_t> fallthrough_predecessors;
    std::uint64_t propagated_hits = 0;  // of the latter, those that it has already
  };
  struct Function {
    std::uint32_t number = 0;
    core::Address begin;
    std::vector<DerivedBlock> derived;  // each after those that it depends on
  };
  struct Inflow;

  static void add_fallen_through(DerivedBlock& derived, const ProbedBlocks& blocks, Inflow& inflow);

  std::vector<Function> functions_;  // with derived blocks, the last chosen last
  std::vector<Edge> edges_;          // propagated, not taken yet
  std::uint64_t derived_ = 0;
};

}  // namespace sp::supervisor
