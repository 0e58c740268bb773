#include "arch/x86_64/emulate_step.h"
#include "arch/x86_64/flags.h"

namespace sp::arch::x86_64 {
namespace {

/// FF /6.
Emulated push_operand(EmulatedStep& step) {
  if (step.encoding.extension() != 6 || step.encoding.operand_size_prefix) {
    return Emulated::not_emulated;
  }
  const auto value = step.read_operand(8);
  if (!value) {
    return Emulated::memory_refused;
  }
  step.finish();
  return step.push(*value);
}

/// Moves the operand to the register in ModRM's reg field.
Emulated move_to_reg(EmulatedStep& step, unsigned from_width, unsigned to_width, bool is_signed) {
  const auto operand = step.read_operand(from_width);
  if (!operand) {
    return Emulated::memory_refused;
  }
  write_register(step.registers, step.encoding.reg(), to_width, step.has_rex(),
                 is_signed ? sign_extend(*operand, from_width) : *operand);
  return step.finish();
}

/// Moves a value to the register in ModRM's rm field; refuses to write memory.
Emulated move_to_rm(EmulatedStep& step, std::uint64_t value) {
  if (step.encoding.names_memory()) {
    return Emulated::not_emulated;
  }
  write_register(step.registers, step.encoding.rm(), step.width(), step.has_rex(), value);
  return step.finish();
}

Emulated load_address(EmulatedStep& step) {
  if (step.encoding.names_register()) {
    return Emulated::not_emulated;
  }
  write_register(step.registers, step.encoding.reg(), step.whole_width(), step.has_rex(),
                 effective_offset(step.registers, step.encoding));
  return step.finish();
}

Emulated pop_to(EmulatedStep& step, unsigned destination) {
  const auto value = load(step.memory, core::Address{step.registers.rsp}, 8);
  if (!value) {
    return Emulated::memory_refused;
  }
  step.registers.rsp += 8;  // first: `pop %rsp` leaves what it has read
  general_register(step.registers, destination) = *value;
  return step.finish();
}

/// 50 to 5F, 68, 6A, C9. The two-byte forms with 66 are not emulated.
Emulated stack_family(EmulatedStep& step) {
  const Encoding& encoding = step.encoding;
  if (encoding.operand_size_prefix) {
    return Emulated::not_emulated;
  }
  if (encoding.opcode == 0xC9) {  // leave
    step.registers.rsp = step.registers.rbp;
    return pop_to(step, kRbp);
  }
  if (encoding.opcode >= 0x58 && encoding.opcode <= 0x5F) {
    return pop_to(step, encoding.opcode_reg());
  }
  const std::uint64_t value = encoding.opcode < 0x58
                                  ? general_register(step.registers, encoding.opcode_reg())
                                  : static_cast<std::uint64_t>(encoding.immediate);
  step.finish();
  return step.push(value);
}

/// 63. With 66 Intel's CPUs read two bytes, AMD's four.
Emulated move_doubleword(EmulatedStep& step) {
  const unsigned width = step.whole_width();
  return width == 2 ? Emulated::not_emulated : move_to_reg(step, 4, width, true);
}

/// B0 to BF: mov immediate to the register in the opcode.
Emulated move_immediate(EmulatedStep& step) {
  const unsigned width = step.encoding.opcode < 0xB8 ? 1 : step.whole_width();
  write_register(step.registers, step.encoding.opcode_reg(), width, step.has_rex(),
                 static_cast<std::uint64_t>(step.encoding.immediate));
  return step.finish();
}

/// 98 and 99: the accumulator's sign into its own upper half, and into rdx.
Emulated widen_accumulator(EmulatedStep& step) {
  const unsigned width = step.whole_width();
  if (step.encoding.opcode == 0x98) {
    const std::uint64_t half = read_register(step.registers, kRax, width / 2, true);
    write_register(step.registers, kRax, width, true, sign_extend(half, width / 2));
  } else {
    const std::uint64_t whole = sign_extend(step.registers.rax, width);
    write_register(step.registers, kRdx, width, true, whole >> 63U == 0 ? 0 : ~0ULL);
  }
  return step.finish();
}

Emulated one_byte(EmulatedStep& step) {
  const Encoding& encoding = step.encoding;
  const std::uint8_t opcode = encoding.opcode;
  const auto immediate = static_cast<std::uint64_t>(encoding.immediate);
  if (opcode >= 0xB0 && opcode <= 0xBF) {
    return move_immediate(step);
  }
  if ((opcode >= 0x50 && opcode <= 0x5F) || opcode == 0x68 || opcode == 0x6A || opcode == 0xC9) {
    return stack_family(step);
  }
  switch (opcode) {
    case 0x63:  // movsxd
      return move_doubleword(step);
    case 0x88:
    case 0x89:
      return move_to_rm(
          step, read_register(step.registers, encoding.reg(), step.width(), step.has_rex()));
    case 0x8A:
    case 0x8B:
      return move_to_reg(step, step.width(), step.width(), false);
    case 0x8D:
      return load_address(step);
    case 0x90:  // nop; with REX.B it is an exchange with r8
      return (encoding.rex & 1U) == 0 ? step.finish() : Emulated::not_emulated;
    case 0x98:
    case 0x99:
      return widen_accumulator(step);
    case 0xC6:
    case 0xC7:
      return encoding.extension() == 0 ? move_to_rm(step, immediate) : Emulated::not_emulated;
    case 0xFF:
      return push_operand(step);
    default:
      return Emulated::not_emulated;
  }
}

Emulated two_byte(EmulatedStep& step) {
  const Encoding& encoding = step.encoding;
  const bool holds = condition_holds(encoding.opcode & 0xFU, step.registers.eflags);
  switch (encoding.opcode & 0xF0U) {
    case 0x40: {  // cmovcc reads its operand, and zeroes the upper half, whether it moves or not
      const unsigned width = step.whole_width();
      const auto operand = step.read_operand(width);
      if (!operand) {
        return Emulated::memory_refused;
      }
      const std::uint64_t kept = read_register(step.registers, encoding.reg(), width, true);
      write_register(step.registers, encoding.reg(), width, true, holds ? *operand : kept);
      return step.finish();
    }
    case 0x90:  // setcc
      if (encoding.names_memory()) {
        return Emulated::not_emulated;
      }
      write_register(step.registers, encoding.rm(), 1, step.has_rex(), holds ? 1 : 0);
      return step.finish();
    default:
      break;
  }
  switch (encoding.opcode) {
    case 0x1F:  // nop of many bytes; other extensions are reserved
      return encoding.extension() == 0 ? step.finish() : Emulated::not_emulated;
    case 0xB6:
    case 0xB7:
      return move_to_reg(step, encoding.opcode == 0xB6 ? 1 : 2, step.whole_width(), false);
    case 0xBE:
    case 0xBF:
      return move_to_reg(step, encoding.opcode == 0xBE ? 1 : 2, step.whole_width(), true);
    default:
      return Emulated::not_emulated;
  }
}

}  // namespace

Emulated emulate_data(EmulatedStep& step) {
  switch (step.encoding.map) {
    case OpcodeMap::one_byte:
      return one_byte(step);
    case OpcodeMap::two_byte:
      return two_byte(step);
    case OpcodeMap::three_byte_38:
    case OpcodeMap::three_byte_3a:
    case OpcodeMap::vector:
      break;
  }
  return Emulated::not_emulated;
}

}  // namespace sp::arch::x86_64
