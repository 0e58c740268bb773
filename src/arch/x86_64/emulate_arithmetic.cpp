#include "arch/x86_64/emulate_step.h"
#include "arch/x86_64/flags.h"

namespace sp::arch::x86_64 {
namespace {

constexpr unsigned kCompare = 7;  // the one operation below without a result

/// The operation in bits 5:3 of an arithmetic opcode, or in /r of its immediate forms.
Sum arithmetic(unsigned operation, std::uint64_t left, std::uint64_t right, bool carry,
               unsigned width) {
  switch (operation) {
    case 0:
      return add(left, right, false, width);
    case 1:
      return logic(left | right, width);
    case 2:
      return add(left, right, carry, width);
    case 3:
      return subtract(left, right, carry, width);
    case 4:
      return logic(left & right, width);
    case 6:
      return logic(left ^ right, width);
    default:  // 5 sub, 7 cmp
      return subtract(left, right, false, width);
  }
}

void set_flags(Registers& registers, std::uint64_t flags, std::uint64_t which = kArithmeticFlags) {
  registers.eflags = (registers.eflags & ~which) | (flags & which);
}

/// Computes, sets the flags and, except for a compare, writes the result to `destination`.
Emulated compute(EmulatedStep& step, unsigned operation, unsigned destination, std::uint64_t left,
                 std::uint64_t right, unsigned width) {
  const bool carry = (step.registers.eflags & kCarry) != 0;
  const Sum sum =
      arithmetic(operation, truncate(left, width), truncate(right, width), carry, width);
  set_flags(step.registers, sum.flags);
  if (operation != kCompare) {
    write_register(step.registers, destination, width, step.has_rex(), sum.value);
  }
  return step.finish();
}

Emulated test(EmulatedStep& step, std::uint64_t left, std::uint64_t right, unsigned width) {
  set_flags(step.registers, logic(left & right, width).flags);
  return step.finish();
}

/// 00 to 3D: E,G - G,E - accumulator,immediate.
Emulated arithmetic_family(EmulatedStep& step) {
  const Encoding& encoding = step.encoding;
  const unsigned operation = (encoding.opcode >> 3U) & 7U;
  const unsigned width = step.width();
  const auto immediate = static_cast<std::uint64_t>(encoding.immediate);
  if (!encoding.has_modrm) {
    const std::uint64_t left = read_register(step.registers, kRax, width, true);
    return compute(step, operation, kRax, left, immediate, width);
  }
  const bool to_reg = (encoding.opcode & 2U) != 0;
  if (!to_reg && encoding.names_memory() && operation != kCompare) {
    return Emulated::not_emulated;
  }
  const auto operand = step.read_operand(width);
  if (!operand) {
    return Emulated::memory_refused;
  }
  const std::uint64_t reg = read_register(step.registers, encoding.reg(), width, step.has_rex());
  return to_reg ? compute(step, operation, encoding.reg(), reg, *operand, width)
                : compute(step, operation, encoding.rm(), *operand, reg, width);
}

/// 80, 81, 83: E,immediate.
Emulated arithmetic_immediate(EmulatedStep& step) {
  const Encoding& encoding = step.encoding;
  const unsigned operation = encoding.extension();
  if (encoding.names_memory() && operation != kCompare) {
    return Emulated::not_emulated;
  }
  const auto operand = step.read_operand(step.width());
  if (!operand) {
    return Emulated::memory_refused;
  }
  return compute(step, operation, encoding.rm(), *operand,
                 static_cast<std::uint64_t>(encoding.immediate), step.width());
}

/// FE and FF /0 /1 on registers: inc and dec, which keep the carry.
Emulated count(EmulatedStep& step) {
  const Encoding& encoding = step.encoding;
  const unsigned width = step.width();
  if (!encoding.names_register()) {
    return Emulated::not_emulated;
  }
  const std::uint64_t before = read_register(step.registers, encoding.rm(), width, step.has_rex());
  const Sum sum =
      encoding.extension() == 0 ? add(before, 1, false, width) : subtract(before, 1, false, width);
  set_flags(step.registers, sum.flags, kArithmeticFlags & ~kCarry);
  write_register(step.registers, encoding.rm(), width, step.has_rex(), sum.value);
  return step.finish();
}

/// F6, F7: test with an immediate; not and neg of registers.
Emulated group_3(EmulatedStep& step) {
  const Encoding& encoding = step.encoding;
  const unsigned extension = encoding.extension();
  const unsigned width = step.width();
  // AMD's manual has test as /1 too, Intel's leaves /1 reserved.
  if (extension == 1 || extension > 3 || (extension >= 2 && encoding.names_memory())) {
    return Emulated::not_emulated;
  }
  const auto operand = step.read_operand(width);
  if (!operand) {
    return Emulated::memory_refused;
  }
  if (extension == 0) {
    return test(step, *operand, static_cast<std::uint64_t>(encoding.immediate), width);
  }
  const Sum negated = subtract(0, *operand, false, width);
  if (extension == 3) {
    set_flags(step.registers, negated.flags);
  }
  write_register(step.registers, encoding.rm(), width, step.has_rex(),
                 extension == 3 ? negated.value : ~*operand);
  return step.finish();
}

/// 84, 85: test E,G.
Emulated test_register(EmulatedStep& step) {
  const auto operand = step.read_operand(step.width());
  if (!operand) {
    return Emulated::memory_refused;
  }
  const std::uint64_t reg =
      read_register(step.registers, step.encoding.reg(), step.width(), step.has_rex());
  return test(step, *operand, reg, step.width());
}

}  // namespace

Emulated emulate_arithmetic(EmulatedStep& step) {
  const Encoding& encoding = step.encoding;
  if (encoding.map != OpcodeMap::one_byte) {
    return Emulated::not_emulated;
  }
  if (encoding.opcode < 0x40) {
    return arithmetic_family(step);
  }
  switch (encoding.opcode) {
    case 0x80:
    case 0x81:
    case 0x83:
      return arithmetic_immediate(step);
    case 0x84:
    case 0x85:
      return test_register(step);
    case 0xA8:
    case 0xA9:
      return test(step, read_register(step.registers, kRax, step.width(), true),
                  static_cast<std::uint64_t>(encoding.immediate), step.width());
    case 0xF6:
    case 0xF7:
      return group_3(step);
    case 0xFE:
    case 0xFF:
      return encoding.extension() <= 1 ? count(step) : Emulated::not_emulated;
    default:
      return Emulated::not_emulated;
  }
}

}  // namespace sp::arch::x86_64
