#pragma once

#include "core/code_counts.h"
#include "core/instruction.h"

namespace sp::supervisor {

/// How control goes from `from`, an instruction that ends a block, to `to`.
[[nodiscard]] core::EdgeFlow edge_flow(const core::Instruction& from, core::Address to);

}  // namespace sp::supervisor
