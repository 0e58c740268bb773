#pragma once

#include "arch/symbolic_values.h"
#include "arch/x86_64/encoding.h"
#include "core/address.h"

namespace sp::arch::x86_64 {

/// Does to `values` what the instruction at `address` does to registers and memory; what is not
/// modelled makes everything unknown that it may change. Jumps do nothing.
void follow_instruction(SymbolicValues& values, const Encoding& encoding, core::Address address);

/// What the condition in the lowest four bits of jcc and cmovcc says of what was compared.
[[nodiscard]] Relation relation_of(unsigned condition);

}  // namespace sp::arch::x86_64
