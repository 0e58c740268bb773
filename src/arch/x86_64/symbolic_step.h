#pragma once

#include "arch/symbolic_values.h"
#include "arch/x86_64/encoding.h"
#include "core/address.h"

namespace sp::arch::x86_64 {

/// Applies the instruction at `address` to the state. An instruction that is not modelled makes
/// everything unknown that it may change. Jumps do nothing.
void follow_instruction(SymbolicValues& values, const Encoding& encoding, core::Address address);

/// What the condition in the low four bits of jcc and cmovcc tests about a comparison.
[[nodiscard]] Relation relation_of(unsigned condition);

}  // namespace sp::arch::x86_64
