#include "arch/x86_64/register_families.h"

namespace sp::arch::x86_64::register_families {
namespace {

bool has_mandatory_prefix(const Encoding& encoding) {
  return encoding.rep || encoding.repne || encoding.operand_size_prefix;
}

/// 0F 01: those with a register in ModRM are each its own.
RegisterEffects of_group_7(const Encoding& encoding) {
  if (has_mandatory_prefix(encoding)) {
    return Operands::unknown();
  }
  Operands operands(encoding);
  switch (encoding.modrm) {
    case 0xD0:  // xgetbv
    case 0xEE:  // rdpkru
      return operands.read({kC}).overwrite({kA, kD}).effects();
    case 0xEF:  // wrpkru
      return operands.read({kA, kC, kD}).effects();
    case 0xF9:  // rdtscp
      return operands.overwrite({kA, kC, kD}).effects();
    case 0xD6:  // xtest
      return operands.effects();
    default:
      return Operands::unknown();
  }
}

/// 0F AE
RegisterEffects of_group_15(const Encoding& encoding) {
  Operands operands(encoding);
  const unsigned extension = encoding.extension();
  if (!encoding.names_register()) {
    // The xsave family has a mask in edx:eax; the others need only their address.
    return operands.read({kA, kD}).effects();
  }
  if (!has_mandatory_prefix(encoding)) {
    return operands.effects();  // fences
  }
  if (!encoding.rep) {
    return Operands::unknown();
  }
  switch (extension) {
    case 0:
    case 1:  // rdfsbase, rdgsbase
      return operands.write_rm(encoding.wide() ? 8 : 4).effects();
    case 2:
    case 3:
    case 4:
    case 5:  // wrfsbase, wrgsbase, ptwrite, incssp
      return operands.read_rm(8).effects();
    default:
      return Operands::unknown();
  }
}

/// 0F C7
RegisterEffects of_group_9(const Encoding& encoding) {
  Operands operands(encoding);
  const unsigned extension = encoding.extension();
  if (!encoding.names_register()) {
    if (extension == 1) {  // cmpxchg8b, cmpxchg16b
      return operands.read({kA, kB, kC, kD}).effects();
    }
    const bool is_xsave = extension >= 3 && extension <= 5;
    return is_xsave ? operands.read({kA, kD}).effects() : Operands::unknown();
  }
  if (encoding.rep) {  // rdpid
    return extension == 7 ? operands.write_rm(8).effects() : Operands::unknown();
  }
  const bool is_random = extension >= 6;  // rdrand, rdseed
  return is_random ? operands.write_rm(operands.word()).effects() : Operands::unknown();
}

/// 00 to 3F
RegisterEffects of_low(const Encoding& encoding) {
  Operands operands(encoding);
  const bool is_scalar = encoding.rep || encoding.repne;
  switch (encoding.opcode) {
    case 0x01:
      return of_group_7(encoding);
    case 0x05:  // syscall
      return operands.read({kA, kD, kStack, kSource, kDestination, 8, 9, 10})
          .overwrite({kC, 11})
          .effects();
    case 0x0D:  // prefetchw
      return operands.effects();
    case 0x1A:
    case 0x1B:  // MPX
      return operands.read_rm(8).effects();
    case 0x1E:  // rdssp; else a hint
      return (encoding.rep && encoding.extension() == 1 ? operands.read_rm(8) : operands).effects();
    case 0x2A:  // cvtsi2ss, cvtsi2sd; of MMX registers
      return (is_scalar ? operands.read_rm(8) : operands).effects();
    case 0x2C:
    case 0x2D:  // cvttss2si, cvtsd2si and their like; of MMX registers
      return (is_scalar ? operands.write_reg(encoding.wide() ? 8 : 4) : operands).effects();
    case 0x28:
    case 0x29:
    case 0x2B:
    case 0x2E:
    case 0x2F:
      return operands.effects();
    case 0x31:  // rdtsc
      return operands.overwrite({kA, kD}).effects();
    case 0x33:  // rdpmc
      return operands.read({kC}).overwrite({kA, kD}).effects();
    default:  // vectors, hints
      return (encoding.opcode & 0xF0U) == 0x10U ? operands.effects() : Operands::unknown();
  }
}

/// 40 to 9F
RegisterEffects of_middle(const Encoding& encoding) {
  Operands operands(encoding);
  switch (encoding.opcode & 0xF0U) {
    case 0x40:  // cmovcc
      return operands.read_reg(8).read_rm(8).effects();
    case 0x80:  // jcc
      return operands.effects();
    case 0x90:  // setcc
      return operands.write_rm(1).effects();
    default:
      break;
  }
  switch (encoding.opcode) {
    case 0x50:  // movmskps, movmskpd
      return operands.write_reg(4).effects();
    case 0x6E:  // movd, movq
      return operands.read_rm(8).effects();
    case 0x7E:  // movd, movq; with F3 between vector registers
      return (encoding.rep ? operands : operands.write_rm(8)).effects();
    case 0x78:
    case 0x79:  // extrq, insertq; vmread, vmwrite
      return encoding.operand_size_prefix || encoding.repne ? operands.effects()
                                                            : Operands::unknown();
    default:
      return operands.effects();
  }
}

/// A0 to BF
RegisterEffects of_bits_and_exchanges(const Encoding& encoding) {
  Operands operands(encoding);
  const unsigned word = operands.word();
  switch (encoding.opcode) {
    case 0xA0:
    case 0xA1:
    case 0xA8:
    case 0xA9:  // push and pop of fs and gs
      return operands.read({kStack}).effects();
    case 0xA2:  // cpuid
      return operands.read({kA, kC}).overwrite({kA, kB, kC, kD}).effects();
    case 0xA5:
    case 0xAD:  // shld and shrd by cl
      operands.read({kC});
      [[fallthrough]];
    case 0xA3:
    case 0xA4:
    case 0xAB:
    case 0xAC:
    case 0xB3:
    case 0xBB:  // bt, shld, bts, shrd, btr, btc
      return operands.read_reg(word).read_rm(word).effects();
    case 0xAE:
      return of_group_15(encoding);
    case 0xAF:
    case 0xBC:
    case 0xBD:  // imul; bsf, bsr: of 0, they leave the register
      return operands.read_reg(word).read_rm(word).effects();
    case 0xB0:
    case 0xB1: {  // cmpxchg
      const unsigned width = operands.byte_or_word();
      return operands.read({kA}).read_reg(width).read_rm(width).effects();
    }
    case 0xB6:
    case 0xBE:  // movzx, movsx of bytes
      return operands.read_rm(1).write_reg(word).effects();
    case 0xB7:
    case 0xBF:
      return operands.read_rm(2).write_reg(word).effects();
    case 0xB8:  // popcnt
      return encoding.rep ? operands.read_rm(word).write_reg(word).effects() : Operands::unknown();
    case 0xBA:
      return operands.read_rm(word).effects();
    default:
      return Operands::unknown();
  }
}

/// C0 to FF
RegisterEffects of_upper_quarter_of_two_byte(const Encoding& encoding) {
  Operands operands(encoding);
  switch (encoding.opcode) {
    case 0xC0:
    case 0xC1: {  // xadd
      const unsigned width = operands.byte_or_word();
      return operands.read_reg(width).read_rm(width).effects();
    }
    case 0xC3:  // movnti
      return operands.read_reg(8).effects();
    case 0xC4:  // pinsrw
      return operands.read_rm(8).effects();
    case 0xC5:
    case 0xD7:  // pextrw, pmovmskb
      return operands.write_reg(4).effects();
    case 0xC7:
      return of_group_9(encoding);
    case 0xF7:  // maskmovq, maskmovdqu
      return operands.read({kDestination}).effects();
    case 0xFF:
      return Operands::unknown();
    default: {
      const bool is_bswap = (encoding.opcode & 0xF8U) == 0xC8U;
      return (is_bswap ? operands.read({encoding.opcode_reg()}) : operands).effects();
    }
  }
}

}  // namespace

RegisterEffects of_two_byte(const Encoding& encoding) {
  if (encoding.opcode < 0x40) {
    return of_low(encoding);
  }
  if (encoding.opcode < 0xA0) {
    return of_middle(encoding);
  }
  return encoding.opcode < 0xC0 ? of_bits_and_exchanges(encoding)
                                : of_upper_quarter_of_two_byte(encoding);
}

}  // namespace sp::arch::x86_64::register_families
