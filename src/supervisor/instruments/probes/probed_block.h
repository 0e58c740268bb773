#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/address.h"
#include "core/clock.h"
#include "core/instruction.h"
#include "core/stable_vector.h"

namespace sp::supervisor {

/// A basic block and what its probe counted.
struct ProbedBlock {
  std::uint32_t number = 0;    // in the BlockTable
  std::uint32_t function = 0;  // in the FunctionIndex
  core::Address start;
  std::uint32_t size = 0;  // bytes
  std::uint32_t instructions = 0;
  core::Instruction last;
  bool falls_through = false;
  bool is_unlocked = false;            // core::BasicBlock: counted by the branch that leads here
  bool is_cut = false;                 // core::BasicBlock
  bool is_derived = false;             // its count follows from those of others: it has no probe
  bool has_unreported_change = false;  // of something other than `hits`
  core::Address probe;                 // Address{}: none of its instructions can have a breakpoint
  std::uint64_t hits = 0;
  std::uint64_t reported_hits = 0;
  std::uint64_t executions = 0;  // hits, and executions by threads that are not counted
  std::uint64_t hotness = 0;     // executions since HotBlocks last chose the hottest
  core::TimePoint first_hit;
  core::TimePoint last_hit;
  std::optional<core::TimePoint> since;        // every execution is counted from `since`,
  std::optional<core::TimePoint> until;        // none from `until`
  std::optional<core::TimePoint> edges_until;  // when it was first executed from a copy
  bool is_jumped_to = false;                   // by the copy, which does not tell
  bool is_reached = false;                     // --coverage
  bool is_known = false;                       // it was reached elsewhere, or earlier
  bool is_copied = false;                      // a copy has counted it, for it has no probe

  void add_hit(core::TimePoint now) {
    if (hits++ == 0) {
      first_hit = now;
    }
    last_hit = now;
  }
  void take_back_hit() {
    if (hits > 0) {
      --hits;
      reported_hits = std::min(reported_hits, hits);
    }
  }
};

/// Indexed by the blocks' numbers; a block never moves.
using ProbedBlocks = core::StableVector<ProbedBlock>;

}  // namespace sp::supervisor
