#pragma once

#include <cstdint>

#include "arch/symbolic_values.h"
#include "core/address.h"

namespace sp::arch::aarch64 {

/// In SymbolicValues register 31 is sp; xzr reads as the constant 0.
inline constexpr unsigned kSp = 31;

/// Applies the instruction at `address` to the state. An instruction that is not modelled makes
/// everything unknown that it may change. Jumps do nothing.
void follow_instruction(SymbolicValues& values, std::uint32_t word, core::Address address);

/// What a condition code tests about a comparison.
[[nodiscard]] Relation relation_of(std::uint32_t condition);

}  // namespace sp::arch::aarch64
