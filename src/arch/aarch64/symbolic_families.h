#pragma once

#include <cstdint>

#include "arch/symbolic_values.h"

namespace sp::arch::aarch64 {

// Families of instructions. Each function does to the state what its instructions do.

/// add, sub and their flag-setting forms (immediate, shifted and extended register).
void follow_addition(SymbolicValues& values, std::uint32_t word);
/// and, orr, eor, ands (immediate and shifted register).
void follow_logic(SymbolicValues& values, std::uint32_t word);
/// movz, movn, movk.
void follow_wide_move(SymbolicValues& values, std::uint32_t word);
/// ubfm, sbfm, bfm with their aliases lsl, lsr, uxtb, ubfiz, sxtw and so on.
void follow_bit_field(SymbolicValues& values, std::uint32_t word);
/// csel, csinc, csinv, csneg.
void follow_select(SymbolicValues& values, std::uint32_t word);
/// Loads and stores (Arm ARM, C4.1.66).
void follow_memory(SymbolicValues& values, std::uint32_t word);

}  // namespace sp::arch::aarch64
