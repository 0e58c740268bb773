#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/function_copy.h"
#include "rewriter/copy_code.h"
#include "rewriter/table_plan.h"

namespace sp::rewriter {

/// Puts the tables of a copy behind its code, and their addresses into the jumps. `offsets`: of the
/// instructions in `copy.code`. False if a displacement does not reach.
[[nodiscard]] bool write_tables(const CopyCode& code, const CopyUnits& units,
                                std::span<const std::optional<PlannedTable>> planned,
                                const std::vector<std::uint32_t>& offsets,
                                core::FunctionCopy& copy);

}  // namespace sp::rewriter
