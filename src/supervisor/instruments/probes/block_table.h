#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/address.h"
#include "core/address_index.h"
#include "core/clock.h"
#include "core/control_flow_graph.h"
#include "core/probed_code.h"
#include "supervisor/instruments/probes/probed_block.h"
#include "supervisor/instruments/probes/probed_function.h"

namespace sp::supervisor {

/// The basic blocks of one address space's instrumented functions, by number and by start address.
/// Pure.
class BlockTable {
 public:
  /// The instruction of a block that gets its breakpoint; see probe_placement.h.
  using ChooseProbe = std::function<core::Address(const core::BasicBlock&)>;

  /// A forked child's table: the same blocks, nothing counted. Not `tells_all`: of those that the
  /// child does not come to only the parent tells.
  [[nodiscard]] BlockTable forked(bool tells_all = true) const;

  /// Adds those blocks of `map` that the function does not have yet, and updates those whose size
  /// changed because there is a new leader in them. A block that begins within a known one has the
  /// count of that one; any other is counted from `since`.
  void update(ProbedFunction& function, const core::ControlFlowGraph& map,
              std::optional<core::TimePoint> since, const ChooseProbe& choose_probe);
  /// The code in `mapped` is unmapped. Its blocks keep their numbers.
  void forget(core::AddressRange mapped);

  [[nodiscard]] ProbedBlock& operator[](std::uint32_t number) { return blocks_[number]; }
  [[nodiscard]] const ProbedBlock& operator[](std::uint32_t number) const {
    return blocks_[number];
  }
  [[nodiscard]] ProbedBlocks& all() { return blocks_; }
  [[nodiscard]] const ProbedBlocks& all() const { return blocks_; }
  /// The graph with what of its blocks was cut off others before, and begins a block since.
  [[nodiscard]] core::ControlFlowGraph with_cuts(core::ControlFlowGraph graph) const;
  /// The block that starts at `address`, or nullptr.
  [[nodiscard]] const ProbedBlock* starting_at(core::Address address) const;
  /// `address` is in a block of the function, not only at its start.
  [[nodiscard]] bool has_block_around(core::Address address, const ProbedFunction& function) const;

  /// A probed branch led there: counts the block, if one starts there that has no probe for
  /// core::BasicBlock::is_unlocked.
  void count_unlocked(core::Address start, core::TimePoint now);
  /// Ends the counts of those to which a branch of the function leads that is not counted any more.
  void end_unlocked(const ProbedFunction& function, core::TimePoint now);
  /// A copy of the function counts the block, from now on. Nothing has, if it has no probe.
  void begin_copied(ProbedBlock& block, const ProbedFunction& function, core::TimePoint now);
  /// Its blocks without probes are counted no more.
  void end_copied(const ProbedFunction& function, core::TimePoint now);
  /// Blocks with hits or other changes since the last call, which reports them.
  [[nodiscard]] std::vector<core::ProbedBlock<core::Address>> take_changes();

 private:
  void add(ProbedFunction& function, core::Address start, const ProbedBlock* split,
           std::optional<core::TimePoint> since);
  static void update(ProbedBlock& block, const core::BasicBlock& mapped,
                     const ChooseProbe& choose_probe);

  ProbedBlocks blocks_;
  core::AddressIndex by_start_;
};

}  // namespace sp::supervisor
