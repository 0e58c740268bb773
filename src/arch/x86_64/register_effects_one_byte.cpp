#include "arch/x86_64/register_families.h"

namespace sp::arch::x86_64::register_families {
namespace {

/// add, or, adc, sbb, and, sub, xor, cmp in the forms of the opcodes 00 to 3F.
RegisterEffects of_arithmetic(const Encoding& encoding) {
  Operands operands(encoding);
  const unsigned width = operands.byte_or_word();
  const unsigned operation = encoding.opcode >> 3U;
  const bool is_compare = operation == 7;
  const unsigned form = encoding.opcode & 7U;
  if (form >= 4) {  // with an immediate
    operands.read({kA});
    return (is_compare ? operands : operands.write(kA, width)).effects();
  }
  // The result of `xor` and `sub` of a register with itself is 0.
  const bool is_zero = (operation == 5 || operation == 6) && encoding.names_register() &&
                       encoding.reg() == encoding.rm() && width >= 4;
  if (!is_zero) {
    operands.read_reg(width).read_rm(width);
  }
  if (is_compare) {
    return operands.effects();
  }
  return (form < 2 ? operands.write_rm(width) : operands.write_reg(width)).effects();
}

RegisterEffects of_string(const Encoding& encoding) {
  Operands operands(encoding);
  const bool repeats = encoding.rep || encoding.repne;
  if (repeats) {
    operands.read({kC});
  }
  switch (encoding.opcode & 0xFEU) {
    case 0x6C:  // ins
      return operands.read({kD, kDestination}).effects();
    case 0x6E:  // outs
      return operands.read({kD, kSource}).effects();
    case 0xAA:  // stos
    case 0xAE:  // scas
      return operands.read({kA, kDestination}).effects();
    case 0xAC:  // lods: with rcx = 0 it leaves rax
      operands.read({kSource});
      return (repeats ? operands.read({kA}) : operands.write(kA, operands.byte_or_word()))
          .effects();
    default:  // movs, cmps
      return operands.read({kSource, kDestination}).effects();
  }
}

RegisterEffects of_group_3(const Encoding& encoding) {
  Operands operands(encoding);
  const unsigned width = operands.byte_or_word();
  operands.read_rm(width);
  switch (encoding.extension()) {
    case 0:
    case 1:  // test
      return operands.effects();
    case 2:
    case 3:  // not, neg
      return operands.write_rm(width).effects();
    case 4:
    case 5:  // mul, imul: of bytes, ax is the result
      operands.read({kA});
      return (width == 1 ? operands : operands.write(kA, width).write(kD, width)).effects();
    default:  // div, idiv
      return operands.read({kA, kD}).effects();
  }
}

/// FE, FF
RegisterEffects of_group_5(const Encoding& encoding) {
  Operands operands(encoding);
  const bool is_byte = encoding.opcode == 0xFE;
  const unsigned extension = encoding.extension();
  if (extension > 1 && is_byte) {
    return Operands::unknown();
  }
  switch (extension) {
    case 0:
    case 1:  // inc, dec
      operands.read_rm(operands.byte_or_word());
      return operands.write_rm(operands.byte_or_word()).effects();
    case 2:  // call
    case 6:  // push
      return operands.read_rm(8).read({kStack}).effects();
    case 4:  // jmp
      return operands.read_rm(8).effects();
    default:
      return Operands::unknown();
  }
}

/// D8 to DF
RegisterEffects of_x87(const Encoding& encoding) {
  Operands operands(encoding);
  const bool is_fnstsw_ax = encoding.opcode == 0xDF && encoding.modrm == 0xE0;
  return (is_fnstsw_ax ? operands.read({kA}) : operands).effects();
}

/// 80 to 9F
RegisterEffects of_moves(const Encoding& encoding) {
  Operands operands(encoding);
  const unsigned width = operands.byte_or_word();
  const unsigned word = operands.word();
  switch (encoding.opcode) {
    case 0x80:
    case 0x81:
    case 0x83: {
      const bool is_compare = encoding.extension() == 7;
      operands.read_rm(width);
      return (is_compare ? operands : operands.write_rm(width)).effects();
    }
    case 0x84:
    case 0x85:  // test
      return operands.read_rm(width).read_reg(width).effects();
    case 0x86:
    case 0x87:  // xchg
      operands.read_rm(width).read_reg(width);
      return operands.write_rm(width).write_reg(width).effects();
    case 0x88:
    case 0x89:
      return operands.read_reg(width).write_rm(width).effects();
    case 0x8A:
    case 0x8B:
      return operands.read_rm(width).write_reg(width).effects();
    case 0x8C:  // mov of a segment register: some CPUs write 16 bits
    case 0x8E:
      return operands.read_rm(word).effects();
    case 0x8D:  // lea
      return encoding.names_memory() ? operands.write_reg(word).effects() : Operands::unknown();
    case 0x8F:  // pop
      return operands.read({kStack}).write_rm(word == 2 ? 2 : 8).effects();
    case 0x98:  // cbw, cwde, cdqe
      return operands.read({kA}).effects();
    case 0x99:  // cwd, cdq, cqo
      return operands.read({kA}).write(kD, word).effects();
    case 0x9B:  // fwait
      return operands.effects();
    case 0x9C:
    case 0x9D:  // pushf, popf
      return operands.read({kStack}).effects();
    case 0x9E:
    case 0x9F:  // sahf, lahf
      return operands.read({kA}).effects();
    case 0x90:  // nop, pause; with REX.B xchg
      return encoding.opcode_reg() == 0 ? operands.effects()
                                        : operands.read({kA, encoding.opcode_reg()}).effects();
    default: {
      const bool is_exchange = (encoding.opcode & 0xF8U) == 0x90U;
      return is_exchange ? operands.read({kA, encoding.opcode_reg()}).effects()
                         : Operands::unknown();
    }
  }
}

/// C0 to FF
RegisterEffects of_upper_quarter(const Encoding& encoding) {
  Operands operands(encoding);
  const unsigned width = operands.byte_or_word();
  switch (encoding.opcode) {
    case 0xD2:
    case 0xD3:  // shifts by cl
      operands.read({kC});
      [[fallthrough]];
    case 0xC0:
    case 0xC1:
    case 0xD0:
    case 0xD1:
      return operands.read_rm(width).write_rm(width).effects();
    case 0xC2:
    case 0xC3:
    case 0xE8:
      return operands.read({kStack}).effects();
    case 0xC6:
    case 0xC7:  // mov; the others are xabort and xbegin
      return encoding.extension() == 0 ? operands.write_rm(width).effects() : Operands::unknown();
    case 0xC8:
    case 0xC9:  // enter, leave
      return operands.read({kStack, kFrame}).effects();
    case 0xD7:  // xlat
      return operands.read({kA, kB}).effects();
    case 0xE0:
    case 0xE1:
    case 0xE2:
    case 0xE3:  // loopne, loope, loop, jrcxz
      return operands.read({kC}).effects();
    case 0xE4:
    case 0xE5:
    case 0xE6:
    case 0xE7:  // in, out
      return operands.read({kA}).effects();
    case 0xEC:
    case 0xED:
    case 0xEE:
    case 0xEF:
      return operands.read({kA, kD}).effects();
    case 0xE9:
    case 0xEB:
    case 0xF5:
    case 0xF8:
    case 0xF9:
    case 0xFA:
    case 0xFB:
    case 0xFC:
    case 0xFD:  // jmp; cmc, clc, stc, cli, sti, cld, std
      return operands.effects();
    case 0xF6:
    case 0xF7:
      return of_group_3(encoding);
    case 0xFE:
    case 0xFF:
      return of_group_5(encoding);
    default:
      return encoding.opcode >= 0xD8 && encoding.opcode <= 0xDF ? of_x87(encoding)
                                                                : Operands::unknown();
  }
}

/// A0 to BF
RegisterEffects of_accumulator(const Encoding& encoding) {
  Operands operands(encoding);
  const unsigned width = operands.byte_or_word();
  if (encoding.opcode >= 0xB8) {  // mov of an immediate
    return operands.write(encoding.opcode_reg(), operands.word()).effects();
  }
  if (encoding.opcode >= 0xB0) {
    return operands.write(encoding.opcode_reg(), 1).effects();
  }
  switch (encoding.opcode) {
    case 0xA0:
    case 0xA1:
      return operands.write(kA, width).effects();
    case 0xA2:
    case 0xA3:
    case 0xA8:
    case 0xA9:  // stores, test
      return operands.read({kA}).effects();
    default:
      return of_string(encoding);
  }
}

/// 40 to 7F
RegisterEffects of_stack_and_branches(const Encoding& encoding) {
  Operands operands(encoding);
  const unsigned word = operands.word();
  if (encoding.opcode >= 0x70) {
    return operands.effects();
  }
  if (encoding.opcode >= 0x6C) {
    return of_string(encoding);
  }
  switch (encoding.opcode & 0xF8U) {
    case 0x50:  // push
      return operands.read({kStack, encoding.opcode_reg()}).effects();
    case 0x58:  // pop
      return operands.read({kStack}).write(encoding.opcode_reg(), word == 2 ? 2 : 8).effects();
    default:
      break;
  }
  switch (encoding.opcode) {
    case 0x63:  // movsxd
    case 0x69:
    case 0x6B:  // imul
      return operands.read_rm(word).write_reg(word).effects();
    case 0x68:
    case 0x6A:  // push
      return operands.read({kStack}).effects();
    default:
      return Operands::unknown();
  }
}

}  // namespace

RegisterEffects of_one_byte(const Encoding& encoding) {
  if (encoding.opcode < 0x40) {
    return of_arithmetic(encoding);
  }
  if (encoding.opcode < 0x80) {
    return of_stack_and_branches(encoding);
  }
  if (encoding.opcode < 0xA0) {
    return of_moves(encoding);
  }
  return encoding.opcode < 0xC0 ? of_accumulator(encoding) : of_upper_quarter(encoding);
}

}  // namespace sp::arch::x86_64::register_families
