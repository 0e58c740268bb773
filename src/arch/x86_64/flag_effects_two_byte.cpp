#include "arch/x86_64/flag_families.h"

namespace sp::arch::x86_64::flag_families {
namespace {

/// 0F 01: those with a register in ModRM are each its own.
FlagEffects of_group_7(const Encoding& encoding) {
  switch (encoding.modrm) {
    case 0xD0:  // xgetbv
    case 0xEE:  // rdpkru
    case 0xEF:  // wrpkru
    case 0xF9:  // rdtscp
      return kNone;
    case 0xD6:  // xtest
      return kSetsAll;
    default:
      return kUnknown;
  }
}

/// 0F AE
FlagEffects of_group_15(const Encoding& encoding) {
  const bool has_prefix = encoding.rep || encoding.repne || encoding.operand_size_prefix;
  if (!has_prefix) {
    return kNone;  // fxsave, ldmxcsr, xsave, clflush, fences
  }
  if (encoding.rep && encoding.names_register() && encoding.extension() < 4) {
    return kNone;  // rdfsbase to wrgsbase
  }
  const bool flushes = encoding.operand_size_prefix && encoding.names_memory() &&
                       encoding.extension() >= 6 && !encoding.rep && !encoding.repne;
  if (flushes) {
    return kNone;  // clwb, clflushopt
  }
  const bool is_incssp = encoding.rep && encoding.names_register() && encoding.extension() == 5;
  return is_incssp ? kNone : kUnknown;
}

/// 0F C7
FlagEffects of_group_9(const Encoding& encoding) {
  switch (encoding.extension()) {
    case 1:  // cmpxchg8b, cmpxchg16b
      return encoding.names_memory() ? FlagEffects{0, kZero} : kUnknown;
    case 3:
    case 4:
    case 5:  // xrstors, xsavec, xsaves
      return encoding.names_memory() ? kNone : kUnknown;
    case 6:  // rdrand, rdseed, rdpid
    case 7:
      if (!encoding.names_register()) {
        return kUnknown;
      }
      if (encoding.rep) {
        return encoding.extension() == 7 ? kNone : kUnknown;
      }
      return kSetsAll;
    default:
      return kUnknown;
  }
}

FlagEffects of_two_byte_high(const Encoding& encoding) {
  const unsigned opcode = encoding.opcode;
  switch (opcode) {
    case 0xA3:
    case 0xAB:
    case 0xB3:
    case 0xBB:  // bt, bts, btr, btc: the others are undefined, or left
      return {0, kCarry};
    case 0xBA:
      return encoding.extension() >= 4 ? FlagEffects{0, kCarry} : kUnknown;
    case 0xA4:
    case 0xAC:  // shld, shrd
      return masked_count(encoding, false) == 0 ? kNone : kSetsAll;
    case 0xAE:
      return of_group_15(encoding);
    case 0xAF:  // imul
    case 0xB0:
    case 0xB1:  // cmpxchg
    case 0xC0:
    case 0xC1:  // xadd
      return kSetsAll;
    case 0xB8:  // popcnt
      return encoding.rep ? kSetsAll : kUnknown;
    case 0xBC:
    case 0xBD:  // bsf, bsr; tzcnt and lzcnt, which older CPUs take for those
      return {0, kZero};
    case 0xC7:
      return of_group_9(encoding);
    case 0xA6:
    case 0xA7:  // of VIA's CPUs
    case 0xAA:  // rsm
    case 0xB9:
    case 0xFF:  // ud1, ud0
      return kUnknown;
    default:
      return kNone;
  }
}

}  // namespace

FlagEffects of_two_byte(const Encoding& encoding) {
  const unsigned opcode = encoding.opcode;
  switch (opcode & 0xF0U) {
    case 0x40:
    case 0x80:
    case 0x90:  // cmovcc, jcc, setcc
      return {read_by_condition(opcode), 0};
    case 0x10:
    case 0x50:
    case 0x60:  // vectors, hints
      return kNone;
    default:
      break;
  }
  if (opcode >= 0xA0) {
    return of_two_byte_high(encoding);
  }
  switch (opcode) {
    case 0x01:
      return of_group_7(encoding);
    case 0x05:  // syscall
    case 0x0D:  // prefetchw
    case 0x28:
    case 0x29:
    case 0x2A:
    case 0x2B:
    case 0x2C:
    case 0x2D:  // vectors
    case 0x31:  // rdtsc
    case 0x33:  // rdpmc
      return kNone;
    case 0x2E:
    case 0x2F:  // ucomiss, comiss, and of doubles
      return kSetsAll;
    case 0x78:
    case 0x79:  // extrq, insertq; vmread, vmwrite
      return encoding.operand_size_prefix || encoding.repne ? kNone : kUnknown;
    default:
      return (opcode & 0xF0U) == 0x70U ? kNone : kUnknown;
  }
}

}  // namespace sp::arch::x86_64::flag_families
