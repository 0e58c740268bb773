#pragma once

#include <cstdint>

#include "arch/aarch64/encoding.h"
#include "arch/symbolic_values.h"

namespace sp::arch::aarch64 {

// Fields of instruction words, and registers as most instructions name them: 31 is xzr.

inline std::uint32_t rd(std::uint32_t word) { return field(word, 0, 5); }
inline std::uint32_t rn(std::uint32_t word) { return field(word, 5, 5); }
inline std::uint32_t rm(std::uint32_t word) { return field(word, 16, 5); }
inline unsigned width_of(std::uint32_t word) { return (word >> 31U) != 0 ? 8 : 4; }

inline SymbolicValue read_register(const SymbolicValues& values, std::uint32_t reg) {
  return reg == kZeroRegister ? SymbolicValues::constant(0) : values.get(reg);
}

inline void write_register(SymbolicValues& values, std::uint32_t reg, unsigned width,
                           const SymbolicValue& value) {
  if (reg != kZeroRegister) {
    values.set(reg, values.extend(value, width, false));
  }
}

inline void forget_register(SymbolicValues& values, std::uint32_t reg) {
  if (reg != kZeroRegister) {
    values.forget(reg);
  }
}

/// uxtb to sxtx of the extended forms and of register offsets.
inline SymbolicValue extended(SymbolicValues& values, std::uint32_t reg, std::uint32_t option) {
  return values.extend(read_register(values, reg), 1U << (option & 3U), (option & 4U) != 0);
}

}  // namespace sp::arch::aarch64
