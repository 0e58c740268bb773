#pragma once

#include <cstdint>

#include "arch/symbolic_values.h"
#include "arch/x86_64/encoding.h"
#include "core/address.h"

namespace sp::arch::x86_64 {

// What operands hold and what writing them does to the state. `address` is the instruction's own.

/// Bytes of the operands.
[[nodiscard]] unsigned width_of(const Encoding& encoding, bool is_byte);

/// The effective address without the segment's base: what lea gives.
[[nodiscard]] SymbolicValue address_operand(SymbolicValues& values, const Encoding& encoding,
                                            core::Address address);
/// The low `width` bytes of a register, zero-extended or sign-extended.
[[nodiscard]] SymbolicValue register_operand(SymbolicValues& values, const Encoding& encoding,
                                             unsigned reg, unsigned width, bool is_signed);
/// The same of the register or memory that ModRM names.
[[nodiscard]] SymbolicValue read_operand(SymbolicValues& values, const Encoding& encoding,
                                         core::Address address, unsigned width, bool is_signed);
/// The immediate, sign-extended.
[[nodiscard]] inline SymbolicValue immediate_operand(const Encoding& encoding) {
  return SymbolicValues::constant(static_cast<std::uint64_t>(encoding.immediate));
}

void write_register(SymbolicValues& values, const Encoding& encoding, unsigned reg, unsigned width,
                    const SymbolicValue& value);
void write_operand(SymbolicValues& values, const Encoding& encoding, core::Address address,
                   unsigned width, const SymbolicValue& value);

}  // namespace sp::arch::x86_64
