#pragma once

#include <cstdint>
#include <initializer_list>

#include "arch/x86_64/encoding.h"
#include "arch/x86_64/register_effects.h"

// Parts of register_effects(). Sources: Intel SDM volume 2, under each instruction.
namespace sp::arch::x86_64::register_families {

inline constexpr unsigned kA = 0;
inline constexpr unsigned kC = 1;
inline constexpr unsigned kD = 2;
inline constexpr unsigned kB = 3;
inline constexpr unsigned kStack = 4;
inline constexpr unsigned kFrame = 5;
inline constexpr unsigned kSource = 6;
inline constexpr unsigned kDestination = 7;

/// The effects of one instruction, put together from its operands. Widths are in bytes.
class Operands {
 public:
  /// Begins with the reads of the registers that a memory operand's address is computed from.
  explicit Operands(const Encoding& encoding) : encoding_(encoding) { read_address(); }

  [[nodiscard]] RegisterEffects effects() const { return effects_; }
  [[nodiscard]] static constexpr RegisterEffects unknown() { return {0xFFFF, 0}; }

  /// Of an instruction with 16, 32 and 64-bit forms.
  [[nodiscard]] unsigned word() const {
    if (encoding_.wide()) {
      return 8;
    }
    return encoding_.operand_size_prefix ? 2 : 4;
  }
  /// Of one whose opcode is even for bytes.
  [[nodiscard]] unsigned byte_or_word() const { return (encoding_.opcode & 1U) == 0 ? 1 : word(); }

  Operands& read(std::initializer_list<unsigned> registers) {
    for (const unsigned number : registers) {
      effects_.reads = static_cast<std::uint16_t>(effects_.reads | bit(number));
    }
    return *this;
  }
  Operands& overwrite(std::initializer_list<unsigned> registers) {
    for (const unsigned number : registers) {
      effects_.overwrites = static_cast<std::uint16_t>(effects_.overwrites | bit(number));
    }
    return *this;
  }
  Operands& write(unsigned number, unsigned width) {
    return width >= 4 ? overwrite({number}) : read({of_width(number, width)});
  }
  Operands& read_reg(unsigned width) { return read({of_width(encoding_.reg(), width)}); }
  Operands& write_reg(unsigned width) { return write(encoding_.reg(), width); }
  Operands& read_rm(unsigned width) {
    return encoding_.names_register() ? read({of_width(encoding_.rm(), width)}) : *this;
  }
  Operands& write_rm(unsigned width) {
    return encoding_.names_register() ? write(encoding_.rm(), width) : *this;
  }

 private:
  static constexpr unsigned bit(unsigned number) { return 1U << (number & 15U); }
  /// Without REX, the byte registers 4 to 7 are ah, ch, dh and bh.
  [[nodiscard]] unsigned of_width(unsigned number, unsigned width) const {
    const bool is_high = width == 1 && encoding_.rex == 0 && number >= 4 && number < 8;
    return is_high ? number - 4 : number;
  }
  void read_address();

  const Encoding& encoding_;
  RegisterEffects effects_;
};

[[nodiscard]] RegisterEffects of_one_byte(const Encoding& encoding);
[[nodiscard]] RegisterEffects of_two_byte(const Encoding& encoding);
[[nodiscard]] RegisterEffects of_three_byte_38(const Encoding& encoding);
[[nodiscard]] RegisterEffects of_three_byte_3a(const Encoding& encoding);
[[nodiscard]] RegisterEffects of_vector(const Encoding& encoding);

}  // namespace sp::arch::x86_64::register_families
