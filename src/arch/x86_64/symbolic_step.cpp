#include "arch/x86_64/symbolic_step.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "arch/x86_64/operands.h"

namespace sp::arch::x86_64 {
namespace {

constexpr unsigned kRsi = 6;
constexpr unsigned kRdi = 7;
constexpr std::array kKeptByNobody = {0U, 1U, 2U, 6U, 7U, 8U, 9U, 10U, 11U};

unsigned width_of(const Encoding& encoding, bool is_byte) {
  if (is_byte) {
    return 1;
  }
  const unsigned narrow = encoding.operand_size_prefix ? 2U : 4U;
  return encoding.wide() ? 8U : narrow;
}

/// What lea gives; unknown in fs and gs.
SymbolicValue address_operand(SymbolicValues& values, const Encoding& encoding, core::Address address) {
  auto sum = SymbolicValues::constant(static_cast<std::uint64_t>(encoding.displacement));
  if (encoding.is_rip_relative()) {
    sum.constant += (address + encoding.length).value();
  } else if (encoding.has_sib) {
    constexpr unsigned kNoIndex = 4;
    if (encoding.mod() != 0 || (encoding.sib & 7U) != 5) {
      sum = values.add(sum, values.get(encoding.base()));
    }
    if (encoding.index() != kNoIndex) {
      const auto factor = std::uint64_t{1} << (encoding.sib >> 6U);
      sum = values.add(sum, values.multiply(values.get(encoding.index()), factor));
    }
  } else {
    sum = values.add(sum, values.get(encoding.rm()));
  }
  return encoding.address_size_prefix ? values.extend(sum, 4, false) : sum;
}

SymbolicValue register_operand(SymbolicValues& values, const Encoding& encoding, unsigned reg,
                           unsigned width, bool is_signed) {
  if (width == 1 && encoding.rex == 0 && reg >= 4) {  // ah, ch, dh, bh
    return values.unknown(0xFF);
  }
  return values.extend(values.get(reg), width, is_signed);
}

void write_register(SymbolicValues& values, const Encoding& encoding, unsigned reg, unsigned width,
                    const SymbolicValue& value) {
  if (width == 8) {
    values.set(reg, value);
  } else if (width == 4) {
    values.set(reg, values.extend(value, 4, false));
  } else {
    values.forget(width == 1 && encoding.rex == 0 && reg >= 4 ? reg - 4 : reg);
  }
}

void write_operand(SymbolicValues& values, const Encoding& encoding, core::Address address,
                   unsigned width, const SymbolicValue& value) {
  if (encoding.names_register()) {
    write_register(values, encoding, encoding.rm(), width, value);
  } else if (encoding.segment != Segment::flat) {
    values.forget_memory();
  } else {
    values.store(address_operand(values, encoding, address), width, value);
  }
}

void forget_all(SymbolicValues& values) {
  for (unsigned reg = 0; reg < 16; ++reg) {
    values.forget(reg);
  }
  values.forget_memory();
  values.forget_flags();
}

void follow_call(SymbolicValues& values) {
  for (const unsigned reg : kKeptByNobody) {
    values.forget(reg);
  }
  values.forget_memory();
  values.forget_flags();
}

enum class Operation : unsigned { add, bit_or, adc, sbb, bit_and, sub, bit_xor, cmp };

/// Sets the flags, and gives the result of what is not `cmp`.
SymbolicValue calculate(SymbolicValues& values, Operation operation, const SymbolicValue& a, const SymbolicValue& b,
                    unsigned width) {
  if (operation == Operation::sub || operation == Operation::cmp) {
    values.compare(a, b, width);
    return values.subtract(a, b);
  }
  values.forget_flags();
  if (operation == Operation::add) {
    return values.add(a, b);
  }
  if (operation == Operation::bit_and && (a.is_constant() || b.is_constant())) {
    const SymbolicValue mask = values.extend(a.is_constant() ? a : b, width, false);
    return values.unknown(mask.constant);
  }
  const bool is_zero = a == b && operation == Operation::bit_xor;
  return is_zero ? SymbolicValues::constant(0) : values.unknown();
}

/// 00 to 3F: eight operations in six forms.
void follow_arithmetic(SymbolicValues& values, const Encoding& encoding, core::Address address) {
  const auto operation = static_cast<Operation>((encoding.opcode >> 3U) & 7U);
  const unsigned form = encoding.opcode & 7U;
  const unsigned width = width_of(encoding, (form & 1U) == 0);
  const bool is_immediate = form >= 4;
  const SymbolicValue rm = is_immediate ? register_operand(values, encoding, kRax, width, false)
                                    : read_operand(values, encoding, address, width, false);
  const SymbolicValue reg = is_immediate
                            ? SymbolicValues::constant(static_cast<std::uint64_t>(encoding.immediate))
                            : register_operand(values, encoding, encoding.reg(), width, false);
  const bool to_register = form == 2 || form == 3;
  const SymbolicValue result = to_register ? calculate(values, operation, reg, rm, width)
                                       : calculate(values, operation, rm, reg, width);
  if (operation == Operation::cmp) {
    return;
  }
  if (is_immediate) {
    write_register(values, encoding, kRax, width, result);
  } else if (to_register) {
    write_register(values, encoding, encoding.reg(), width, result);
  } else {
    write_operand(values, encoding, address, width, result);
  }
}

/// 80 to 83: the same with an immediate.
void follow_group_1(SymbolicValues& values, const Encoding& encoding, core::Address address) {
  const auto operation = static_cast<Operation>(encoding.extension());
  const unsigned width = width_of(encoding, (encoding.opcode & 1U) == 0);
  const SymbolicValue old = read_operand(values, encoding, address, width, false);
  const auto immediate = SymbolicValues::constant(static_cast<std::uint64_t>(encoding.immediate));
  const SymbolicValue result = calculate(values, operation, old, immediate, width);
  if (operation != Operation::cmp) {
    write_operand(values, encoding, address, width, result);
  }
}

/// C0, C1, D0 to D3.
void follow_shift(SymbolicValues& values, const Encoding& encoding, core::Address address) {
  const unsigned width = width_of(encoding, (encoding.opcode & 1U) == 0);
  const SymbolicValue old = read_operand(values, encoding, address, width, false);
  const bool by_cl = (encoding.opcode & 0xFEU) == 0xD2U;
  const bool by_one = (encoding.opcode & 0xFEU) == 0xD0U;
  const auto by =
      by_one ? 1U : static_cast<unsigned>(encoding.immediate) & (width == 8 ? 63U : 31U);
  values.forget_flags();
  SymbolicValue result = values.unknown();
  if (!by_cl && (encoding.extension() == 4 || encoding.extension() == 6)) {
    result = values.multiply(old, std::uint64_t{1} << by);
  } else if (!by_cl && encoding.extension() == 5 && width >= 4) {
    result = values.unknown(values.most(old).value_or(~std::uint64_t{0}) >> by);
  }
  write_operand(values, encoding, address, width, result);
}

void follow_stack(SymbolicValues& values, const Encoding& encoding) {
  const bool is_push = encoding.opcode < 0x58 || encoding.opcode == 0x68 || encoding.opcode == 0x6A;
  const auto eight = SymbolicValues::constant(8);
  if (is_push) {
    const SymbolicValue value =
        encoding.opcode < 0x58
            ? values.get(encoding.opcode_reg())
            : SymbolicValues::constant(static_cast<std::uint64_t>(encoding.immediate));
    values.set(kRsp, values.subtract(values.get(kRsp), eight));
    values.store(values.get(kRsp), 8, value);
  } else {
    const SymbolicValue value = values.load(values.get(kRsp), 8, false);
    values.set(kRsp, values.add(values.get(kRsp), eight));
    values.set(encoding.opcode_reg(), value);
  }
}

void follow_move(SymbolicValues& values, const Encoding& encoding, core::Address address) {
  const unsigned width = width_of(encoding, (encoding.opcode & 1U) == 0);
  const bool to_register = (encoding.opcode & 2U) != 0;
  if (to_register) {
    const SymbolicValue value = read_operand(values, encoding, address, width, false);
    write_register(values, encoding, encoding.reg(), width, value);
  } else {
    const SymbolicValue value = register_operand(values, encoding, encoding.reg(), width, false);
    write_operand(values, encoding, address, width, value);
  }
}

/// F6, F7, FE, FF.
void follow_group_3_and_5(SymbolicValues& values, const Encoding& encoding, core::Address address) {
  const unsigned width = width_of(encoding, (encoding.opcode & 1U) == 0);
  const unsigned extension = encoding.extension();
  if (encoding.opcode == 0xFF && (extension == 2 || extension == 3)) {
    follow_call(values);
    return;
  }
  if (encoding.opcode == 0xFF && extension >= 4) {
    if (extension == 6) {
      values.set(kRsp, values.subtract(values.get(kRsp), SymbolicValues::constant(8)));
      values.forget_memory();
    }
    return;
  }
  values.forget_flags();
  const bool is_counter = encoding.opcode >= 0xFE;
  if (is_counter) {
    const auto one = SymbolicValues::constant(extension == 0 ? 1 : ~std::uint64_t{0});
    const SymbolicValue old = read_operand(values, encoding, address, width, false);
    write_operand(values, encoding, address, width, values.add(old, one));
  } else if (extension == 2 || extension == 3) {  // not, neg
    write_operand(values, encoding, address, width, values.unknown());
  } else if (extension >= 4) {  // mul, imul, div, idiv
    values.forget(kRax);
    values.forget(kRdx);
  }
}

bool is_between(std::uint8_t opcode, unsigned low, unsigned high) {
  return opcode >= low && opcode <= high;
}

void follow_widening(SymbolicValues& values, const Encoding& encoding) {
  if (encoding.opcode == 0x99) {  // cltd, cqto
    values.forget(kRdx);
    return;
  }
  const unsigned width = width_of(encoding, false);  // cwtl, cltq
  write_register(values, encoding, kRax, width, values.extend(values.get(kRax), width / 2, true));
}

void follow_string(SymbolicValues& values) {
  for (const unsigned reg : {kRax, kRcx, kRsi, kRdi}) {
    values.forget(reg);
  }
  values.forget_memory();
  values.forget_flags();
}

/// What is neither arithmetic nor a move. False where it is not known.
bool follow_rare(SymbolicValues& values, const Encoding& encoding, core::Address address) {
  const unsigned width = width_of(encoding, false);
  switch (encoding.opcode) {
    case 0x63:  // movslq
      write_register(values, encoding, encoding.reg(), width,
                     read_operand(values, encoding, address, 4, true));
      return true;
    case 0x69:
    case 0x6B: {  // imul with an immediate
      const SymbolicValue factor = read_operand(values, encoding, address, width, false);
      values.forget_flags();
      write_register(values, encoding, encoding.reg(), width,
                     values.multiply(factor, static_cast<std::uint64_t>(encoding.immediate)));
      return true;
    }
    case 0x84:
    case 0x85:
    case 0xA8:
    case 0xA9:  // test
      values.forget_flags();
      return true;
    case 0x8D:  // lea
      write_register(values, encoding, encoding.reg(), width,
                     address_operand(values, encoding, address));
      return true;
    case 0xC6:
    case 0xC7:
      if (encoding.extension() == 0) {
        write_operand(values, encoding, address, width_of(encoding, encoding.opcode == 0xC6),
                      SymbolicValues::constant(static_cast<std::uint64_t>(encoding.immediate)));
      }
      return encoding.extension() == 0;
    case 0x90:
      return encoding.rex == 0;
    case 0x98:
    case 0x99:
      follow_widening(values, encoding);
      return true;
    case 0x86:
    case 0x87:  // xchg
      write_operand(values, encoding, address, width, values.unknown());
      values.forget(encoding.reg());
      return true;
    case 0xA4:
    case 0xA5:
    case 0xA6:
    case 0xA7:
    case 0xAA:
    case 0xAB:
    case 0xAC:
    case 0xAD:
    case 0xAE:
    case 0xAF:  // movs, cmps, stos, lods, scas, repeated or not
      follow_string(values);
      return true;
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
  values.forget_flags();  // fcomi and kin
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
    const unsigned width = width_of(encoding, opcode < 0xB8);
    write_register(values, encoding, encoding.opcode_reg(), width,
                   SymbolicValues::constant(static_cast<std::uint64_t>(encoding.immediate)));
  } else if (is_between(opcode, 0xC0, 0xC1) || is_between(opcode, 0xD0, 0xD3)) {
    follow_shift(values, encoding, address);
  } else if (is_between(opcode, 0xF6, 0xF7) || opcode >= 0xFE) {
    follow_group_3_and_5(values, encoding, address);
  } else if (is_between(opcode, 0xD8, 0xDF)) {
    follow_x87(values, encoding);
  } else if (!is_between(opcode, 0x70, 0x7F) && !follow_rare(values, encoding, address)) {
    forget_all(values);
  }
}

/// cvttsd2si, movmskps, movd, pextrw, pmovmskb and kin.
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
  if (is_between(encoding.opcode, 0x2E, 0x2F)) {  // ucomiss and kin
    values.forget_flags();
  }
}

void follow_conditional_move(SymbolicValues& values, const Encoding& encoding, core::Address address) {
  const unsigned width = width_of(encoding, false);
  const Relation relation = relation_of(encoding.opcode & 0xFU);
  const SymbolicValue moved = read_operand(values, encoding, address, width, false);
  const SymbolicValue kept = register_operand(values, encoding, encoding.reg(), width, false);
  const auto most_moved = values.most_if(relation, moved);
  const auto most_kept = values.most_if(opposite(relation), kept);
  const bool both = most_moved && most_kept;
  const SymbolicValue either =
      both ? values.unknown(std::max(*most_moved, *most_kept)) : values.unknown();
  write_register(values, encoding, encoding.reg(), width, either);
}

void follow_two_byte(SymbolicValues& values, const Encoding& encoding, core::Address address) {
  const std::uint8_t opcode = encoding.opcode;
  const unsigned width = width_of(encoding, false);
  if (is_of_vectors(opcode)) {
    follow_vector(values, encoding);
  } else if (is_between(opcode, 0x40, 0x4F)) {
    follow_conditional_move(values, encoding, address);
  } else if (is_between(opcode, 0x90, 0x9F)) {  // setcc
    write_operand(values, encoding, address, 1, values.unknown());
  } else if (opcode == 0xB6 || opcode == 0xB7 || opcode == 0xBE || opcode == 0xBF) {
    const unsigned from = (opcode & 1U) == 0 ? 1 : 2;
    write_register(values, encoding, encoding.reg(), width,
                   read_operand(values, encoding, address, from, opcode >= 0xBE));
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

SymbolicValue read_operand(SymbolicValues& values, const Encoding& encoding, core::Address address,
                       unsigned width, bool is_signed) {
  if (encoding.names_register()) {
    return register_operand(values, encoding, encoding.rm(), width, is_signed);
  }
  if (encoding.segment != Segment::flat) {
    return values.unknown();
  }
  return values.load(address_operand(values, encoding, address), width, is_signed);
}

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
