#pragma once

#include <cstdint>
#include <span>
#include <tl/expected.hpp>
#include <vector>

#include "arch/x86_64/move.h"
#include "core/function_copy.h"
#include "rewriter/branch_plan.h"
#include "rewriter/copy_units.h"
#include "rewriter/landing_plan.h"
#include "rewriter/live_state.h"

namespace sp::rewriter {

/// One instruction of a copy, which gets its place later, and what it means in the original.
struct CopiedInstruction {
  static constexpr std::uint32_t kNoUnit = ~std::uint32_t{0};

  arch::x86_64::MovedInstruction code;
  std::uint32_t to_unit = kNoUnit;  // its displacement leads to this unit's copy
  core::Address original;           // the next instruction in terms of the original
  std::uint8_t undo = 0;
  bool is_counted = false;
  bool is_entry = false;
  bool is_branching = false;    // core::CopyPoint::uncounted_branch
  bool is_transferred = false;  // core::CopyPoint's
};

/// A copy's code without addresses, unit after unit.
struct CopyCode {
  std::vector<CopiedInstruction> instructions;
  std::vector<std::uint32_t> units;  // the first instruction of each
  std::vector<core::CopyUndo> undos{1};
  struct Transfer {
    std::uint32_t unit = 0;  // its last instruction is counted as one
    bool saves_flags = false;
  };
  std::vector<Transfer> transfers;
  /// Loop heads whose copy begins with an instruction of `room` bytes, enough for a jump.
  struct Exit {
    std::uint32_t unit = 0;
    std::uint8_t room = 0;
  };
  std::vector<Exit> exits;
  /// Instructions of inserted code in whose place such a jump may be put.
  struct InsertedExit {
    std::size_t instruction = 0;
    std::int64_t distance = 0;  // from behind it
  };
  std::vector<InsertedExit> inserted_exits;
};

/// Moves the instructions of all units, puts a counter into each block, one behind each branch that
/// needs one, and counts transfers if the place has a table for them. `branches` has one for each
/// unit.
[[nodiscard]] tl::expected<CopyCode, core::CopyRefusal> make_copy_code(
    const core::FunctionToCopy& function, const CopyUnits& units, const LiveState& live,
    std::span<const PlannedLanding> landings, std::span<const PlannedBranch> branches,
    const core::CopyPlace& place);

}  // namespace sp::rewriter
