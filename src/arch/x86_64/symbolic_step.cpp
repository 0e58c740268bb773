#include "arch/x86_64/symbolic_step.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "arch/x86_64/operands.h"
#include "arch/x86_64/symbolic_families.h"
#include "arch/x86_64/symbolic_operands.h"

namespace sp::arch::x86_64 {
namespace {

/// Registers that a callee may change (System V ABI, AMD64 supplement, 3.2.1).
constexpr std::array kCallClobbered = {0U, 1U, 2U, 6U, 7U, 8U, 9U, 10U, 11U};

bool is_between(std::uint8_t opcode, unsigned low, unsigned high) {
  return opcode >= low && opcode <= high;
}

void forget_all(SymbolicValues& values) {
  for (unsigned reg = 0; reg < 16; ++reg) {
    values.forget(reg);
  }
  values.forget_memory();
  values.forget_flags();
}

void follow_call(SymbolicValues& values) {
  for (const unsigned reg : kCallClobbered) {
    values.forget(reg);
  }
  values.forget_memory();
  values.forget_flags();
}

/// FF /2 to /6: calls, jumps and push.
void follow_group_5(SymbolicValues& values, const Encoding& encoding) {
  const unsigned extension = encoding.extension();
  if (extension == 2 || extension == 3) {
    follow_call(values);
  } else if (extension == 6) {
    values.set(kRsp, values.subtract(values.get(kRsp), SymbolicValues::constant(8)));
    values.forget_memory();
  }
}

/// Everything that is neither arithmetic nor a common move. False if it is not modelled.
bool follow_rare(SymbolicValues& values, const Encoding& encoding, core::Address address) {
  switch (encoding.opcode) {
    case 0x63:  // movslq
      follow_extension(values, encoding, address, 4, true);
      return true;
    case 0x69:
    case 0x6B:
      follow_multiplication(values, encoding, address);
      return true;
    case 0x84:
    case 0x85:
    case 0xA8:
    case 0xA9:  // test
      values.forget_flags();
      return true;
    case 0x86:
    case 0x87:
      follow_exchange(values, encoding, address);
      return true;
    case 0x8D:  // lea
      write_register(values, encoding, encoding.reg(), width_of(encoding, false),
                     address_operand(values, encoding, address));
      return true;
    case 0x90:
      return encoding.rex == 0;
    case 0x98:
    case 0x99:
      follow_widening(values, encoding);
      return true;
    case 0xC6:
    case 0xC7:
      if (encoding.extension() == 0) {
        follow_immediate_move(values, encoding, address);
      }
      return encoding.extension() == 0;
    case 0xE8:
      follow_call(values);
      return true;
    case 0xE9:
    case 0xEB:
      return true;
    default:
      return false;
  }
}

void follow_x87(SymbolicValues& values, const Encoding& encoding) {
  values.forget_flags();  // fcomi and others
  if (encoding.names_memory()) {
    values.forget_memory();
  } else if (encoding.opcode == 0xDF) {  // fnstsw
    values.forget(kRax);
  }
}

void follow_one_byte(SymbolicValues& values, const Encoding& encoding, core::Address address) {
  const std::uint8_t opcode = encoding.opcode;
  if (opcode < 0x40 && (opcode & 7U) < 6) {
    follow_arithmetic(values, encoding, address);
  } else if (is_between(opcode, 0x50, 0x5F) || opcode == 0x68 || opcode == 0x6A) {
    follow_stack(values, encoding);
  } else if (is_between(opcode, 0x80, 0x83)) {
    follow_group_1(values, encoding, address);
  } else if (is_between(opcode, 0x88, 0x8B)) {
    follow_move(values, encoding, address);
  } else if (is_between(opcode, 0xB0, 0xBF)) {
    follow_immediate_move(values, encoding, address);
  } else if (is_between(opcode, 0xC0, 0xC1) || is_between(opcode, 0xD0, 0xD3)) {
    follow_shift(values, encoding, address);
  } else if (is_between(opcode, 0xF6, 0xF7)) {
    follow_group_3(values, encoding, address);
  } else if (opcode == 0xFF && encoding.extension() >= 2) {
    follow_group_5(values, encoding);
  } else if (opcode >= 0xFE) {
    follow_count(values, encoding, address);
  } else if (is_between(opcode, 0xA4, 0xA7) || is_between(opcode, 0xAA, 0xAF)) {
    follow_string(values);
  } else if (is_between(opcode, 0xD8, 0xDF)) {
    follow_x87(values, encoding);
  } else if (!is_between(opcode, 0x70, 0x7F) && !follow_rare(values, encoding, address)) {
    forget_all(values);
  }
}

/// cvttsd2si, movmskps, movd, pextrw, pmovmskb and related ones.
bool is_to_general(std::uint8_t opcode) {
  constexpr std::array<std::uint8_t, 6> kToGeneral = {0x2C, 0x2D, 0x50, 0x7E, 0xC5, 0xD7};
  return std::find(kToGeneral.begin(), kToGeneral.end(), opcode) != kToGeneral.end();
}

/// Opcodes of the two-byte map that leave general registers alone.
bool is_of_vectors(std::uint8_t opcode) {
  return !is_to_general(opcode) &&
         (is_between(opcode, 0x10, 0x17) || is_between(opcode, 0x28, 0x2F) ||
          is_between(opcode, 0x51, 0x76) || is_between(opcode, 0x7C, 0x7F) || opcode == 0xC2 ||
          opcode == 0xC4 || opcode == 0xC6 || opcode >= 0xD0);
}

void follow_vector(SymbolicValues& values, const Encoding& encoding) {
  if (encoding.names_memory()) {
    values.forget_memory();  // it may be a store
  }
  if (is_between(encoding.opcode, 0x2E, 0x2F)) {  // ucomiss and others
    values.forget_flags();
  }
}

void follow_two_byte(SymbolicValues& values, const Encoding& encoding, core::Address address) {
  const std::uint8_t opcode = encoding.opcode;
  if (is_of_vectors(opcode)) {
    follow_vector(values, encoding);
  } else if (is_between(opcode, 0x40, 0x4F)) {
    follow_conditional_move(values, encoding, address);
  } else if (is_between(opcode, 0x90, 0x9F)) {  // setcc
    write_operand(values, encoding, address, 1, values.unknown());
  } else if (opcode == 0xB6 || opcode == 0xB7 || opcode == 0xBE || opcode == 0xBF) {
    follow_extension(values, encoding, address, (opcode & 1U) == 0 ? 1 : 2, opcode >= 0xBE);
  } else if (opcode == 0xAF || opcode == 0xBC || opcode == 0xBD || opcode == 0xB8) {
    values.forget_flags();
    values.forget(encoding.reg());  // imul, bsf, bsr, popcnt
  } else if (opcode == 0xA3) {      // bt
    values.forget_flags();
  } else if (is_between(opcode, 0xC8, 0xCF)) {  // bswap
    values.forget(encoding.opcode_reg());
  } else if (is_to_general(opcode)) {
    values.forget(encoding.reg());
    if (encoding.names_register()) {
      values.forget(encoding.rm());
    } else {
      values.forget_memory();
    }
  } else if (!is_between(opcode, 0x80, 0x8F) && opcode != 0x1E && opcode != 0x1F &&
             opcode != 0x18 && opcode != 0x0D) {  // endbr, nop, prefetch
    forget_all(values);
  }
}

}  // namespace

Relation relation_of(unsigned condition) {
  constexpr std::array kRelations = {Relation::other,          Relation::other,
                                     Relation::below,          Relation::above_or_equal,
                                     Relation::equal,          Relation::not_equal,
                                     Relation::below_or_equal, Relation::above,
                                     Relation::other,          Relation::other,
                                     Relation::other,          Relation::other,
                                     Relation::less,           Relation::greater_or_equal,
                                     Relation::less_or_equal,  Relation::greater};
  return kRelations[condition & 0xFU];
}

void follow_instruction(SymbolicValues& values, const Encoding& encoding, core::Address address) {
  switch (encoding.map) {
    case OpcodeMap::one_byte:
      follow_one_byte(values, encoding, address);
      return;
    case OpcodeMap::two_byte:
      follow_two_byte(values, encoding, address);
      return;
    case OpcodeMap::three_byte_38:
    case OpcodeMap::three_byte_3a:
    case OpcodeMap::vector:
      forget_all(values);
      return;
  }
}

}  // namespace sp::arch::x86_64
