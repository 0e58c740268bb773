#pragma once

#include "arch/jump_table.h"
#include "arch/symbolic_expressions.h"

namespace sp::arch {

/// Recognises the destination of an indirect jump as an entry of a jump table. Answers what else
/// must be known where the table's address depends on a register's initial value.
[[nodiscard]] JumpOnPath jump_to(const SymbolicExpressions& expressions,
                                 const SymbolicValue& destination);

}  // namespace sp::arch
