#pragma once

#include <cstdint>

#include "arch/symbolic_values.h"
#include "core/address.h"

namespace sp::arch::aarch64 {

/// In SymbolicValues 31 is sp; where an instruction means xzr by it, it reads as 0.
inline constexpr unsigned kSp = 31;

/// Does to `values` what the instruction at `address` does to registers and memory; what is not
/// modelled makes everything unknown that it may change. Jumps do nothing.
void follow_instruction(SymbolicValues& values, std::uint32_t word, core::Address address);

/// What a condition code says of what was compared.
[[nodiscard]] Relation relation_of(std::uint32_t condition);

}  // namespace sp::arch::aarch64
