#pragma once

#include "arch/symbolic_values.h"
#include "arch/x86_64/encoding.h"
#include "core/address.h"

namespace sp::arch::x86_64 {

// Families of instructions. Each function does to the state what its instructions do.

// ---- arithmetic and logic
/// 00 to 3D: eight operations in six forms.
void follow_arithmetic(SymbolicValues& values, const Encoding& encoding, core::Address address);
/// 80 to 83: the same with an immediate.
void follow_group_1(SymbolicValues& values, const Encoding& encoding, core::Address address);
/// C0, C1, D0 to D3: shifts and rotates.
void follow_shift(SymbolicValues& values, const Encoding& encoding, core::Address address);
/// 69, 6B: imul with an immediate.
void follow_multiplication(SymbolicValues& values, const Encoding& encoding, core::Address address);
/// F6, F7: test, not, neg, mul, div.
void follow_group_3(SymbolicValues& values, const Encoding& encoding, core::Address address);
/// FE, FF /0 /1: inc and dec.
void follow_count(SymbolicValues& values, const Encoding& encoding, core::Address address);

// ---- moves
/// 50 to 5F, 68, 6A: push and pop.
void follow_stack(SymbolicValues& values, const Encoding& encoding);
/// 88 to 8B: mov between registers and memory.
void follow_move(SymbolicValues& values, const Encoding& encoding, core::Address address);
/// B0 to BF, C6, C7: mov of an immediate.
void follow_immediate_move(SymbolicValues& values, const Encoding& encoding, core::Address address);
/// 63, 0F B6, B7, BE, BF: movslq, movzx, movsx from `from` bytes.
void follow_extension(SymbolicValues& values, const Encoding& encoding, core::Address address,
                      unsigned from, bool is_signed);
/// 98, 99: the accumulator's sign extension.
void follow_widening(SymbolicValues& values, const Encoding& encoding);
/// 86, 87.
void follow_exchange(SymbolicValues& values, const Encoding& encoding, core::Address address);
/// movs, cmps, stos, lods, scas, repeated or not.
void follow_string(SymbolicValues& values);
/// 0F 40 to 4F.
void follow_conditional_move(SymbolicValues& values, const Encoding& encoding,
                             core::Address address);

}  // namespace sp::arch::x86_64
