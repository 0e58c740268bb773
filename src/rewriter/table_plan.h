#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arch/x86_64/table_jump.h"
#include "core/function_copy.h"
#include "rewriter/copy_units.h"
#include "rewriter/live_state.h"

namespace sp::rewriter {

/// (x86-64 alone) A jump by a table that the copy makes through a table of its own, whose entries
/// are addresses in the copy: one instruction in the place of the original's up to three, and no
/// landing.
struct PlannedTable {
  static constexpr std::uint32_t kNoUnit = ~std::uint32_t{0};

  arch::x86_64::TableJump jump;
  const core::BranchTable* table = nullptr;
  std::uint64_t counter = 0;  // core::CopiedTable's; 0: nothing is counted
  /// Where an entry leads in the copy.
  struct Entry {
    /// kNoUnit: the copy executes the original's instructions, or, if TableJump::is_apart, it jumps
    /// to the original.
    std::uint32_t unit = kNoUnit;
    bool sets_register = false;  // `reg` is to hold the address in the original then
  };
  std::vector<Entry> entries;
  unsigned reg = 0;
};

/// For each unit. Entries that lead to code which reads the flags that the instructions set have no
/// unit. `counters`: where theirs begin.
[[nodiscard]] std::vector<std::optional<PlannedTable>> plan_tables(
    const core::FunctionToCopy& function, const CopyUnits& units, const LiveState& live,
    const core::CopyPlace& place, std::uint64_t counters);

}  // namespace sp::rewriter
