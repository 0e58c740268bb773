#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/function_copy.h"
#include "rewriter/copy_units.h"
#include "rewriter/copy_writer.h"
#include "rewriter/cpu.h"
#include "rewriter/table_plan.h"

// The code of jumps by tables of the copy's own.
namespace sp::rewriter {

/// In front of the instructions that it stands for, which follow for entries without a unit.
void add_table_jump(std::uint32_t unit, const PlannedTable& table, CopyWriter& writer);

/// Of a jump that is_apart: the load, and all that follows up to the jump, from `sources`. Threads
/// come from the original to the code that is added behind that, for their registers hold the
/// original's entry.
[[nodiscard]] std::optional<core::CopyRefusal> add_table_load(
    std::uint32_t unit, const PlannedTable& table, std::span<const cpu::SourceInstruction> sources,
    CopyWriter& writer);

/// Behind all units, where PlannedTable::Entry::sets_register.
void add_setters(const PlannedTable& table, const CopyUnits& units, CopyWriter& writer);

}  // namespace sp::rewriter
