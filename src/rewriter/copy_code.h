#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "core/function_copy.h"
#include "rewriter/branch_plan.h"
#include "rewriter/copy_units.h"
#include "rewriter/landing_plan.h"
#include "rewriter/live_state.h"
#include "rewriter/table_plan.h"

namespace sp::rewriter {

/// One instruction of a copy, which gets its place later, and what it means in the original.
struct CopiedInstruction {
  static constexpr std::uint32_t kNoUnit = ~std::uint32_t{0};

  cpu::MovedInstruction code;
  std::uint32_t to_unit = kNoUnit;  // its displacement leads to this unit's copy
  core::Address original;           // the next instruction in terms of the original
  std::uint8_t undo = 0;
  bool is_counted = false;
  bool is_entry = false;
  bool is_branching = false;    // core::CopyPoint::uncounted_branch
  bool is_transferred = false;  // core::CopyPoint's
  bool is_in_entry = false;     // core::CopyPoint::counted_by
};

/// A copy's code without addresses, unit after unit.
struct CopyCode {
  std::vector<CopiedInstruction> instructions;
  std::vector<std::uint32_t> units;     // the first instruction of each
  std::vector<std::uint32_t> landings;  // the one that its landing leads to
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
  /// A jump by a table of the copy's own.
  struct Table {
    std::uint32_t unit = 0;     // whose PlannedTable it is
    std::size_t jump = 0;       // the instruction, whose last four bytes lead to the table
    std::size_t otherwise = 0;  // the instruction for entries without a unit
  };
  std::vector<Table> tables;
  /// By register and unit: the first instruction of what sets PlannedTable::reg and leads there.
  std::map<std::pair<unsigned, std::uint32_t>, std::size_t> setters;
};

/// Moves the instructions of all units, puts a counter into each block, one behind each branch that
/// needs one, and counts transfers if the place has a table for them. `branches` and `tables` have
/// one for each unit.
[[nodiscard]] tl::expected<CopyCode, core::CopyRefusal> make_copy_code(
    const core::FunctionToCopy& function, const CopyUnits& units, const LiveState& live,
    std::span<const PlannedLanding> landings, std::span<const PlannedBranch> branches,
    std::span<const std::optional<PlannedTable>> tables, const core::CopyPlace& place);

}  // namespace sp::rewriter
