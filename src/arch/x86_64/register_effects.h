#pragma once

#include <cstdint>

#include "arch/x86_64/encoding.h"

namespace sp::arch::x86_64 {

/// What an instruction does to the general registers; bit n is the one with number n in
/// instructions (rax rcx rdx rbx rsp rbp rsi rdi r8-15).
struct RegisterEffects {
  std::uint16_t reads = 0;  // its effect may depend on them
  /// It overwrites all 64 bits, whatever its operands are. (A write of 32 bits clears the upper
  /// half; one of 8 or 16 bits keeps the rest, so that it reads the register.) Registers that it
  /// also reads may be missing.
  std::uint16_t overwrites = 0;

  bool operator==(const RegisterEffects&) const = default;
};

/// For an instruction that is not known: reads all, overwrites none.
[[nodiscard]] RegisterEffects register_effects(const Encoding& encoding);

}  // namespace sp::arch::x86_64
