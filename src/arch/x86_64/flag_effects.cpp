#include "arch/x86_64/flag_effects.h"

#include "arch/x86_64/flag_families.h"
#include "arch/x86_64/flags.h"

namespace sp::arch::x86_64 {
namespace {

using namespace flag_families;  // NOLINT(google-build-using-namespace)

constexpr FlagEffects kSetsAllWithCarry{kCarry, kAll};

/// add, or, adc, sbb, and, sub, xor, cmp, numbered as in their opcodes.
FlagEffects of_arithmetic(unsigned operation) {
  const bool is_with_carry = operation == 2 || operation == 3;
  return is_with_carry ? kSetsAllWithCarry : kSetsAll;
}

/// A rotate or shift (/0 to /7) by a count that is known.
FlagEffects of_shift(unsigned operation, unsigned count) {
  if (count == 0) {
    return kNone;
  }
  const std::uint64_t overflow = count == 1 ? kOverflow : 0;
  switch (operation) {
    case 0:
    case 1:  // rol, ror
      return {0, kCarry | overflow};
    case 2:
    case 3:  // rcl, rcr: by 9 bits, a byte and CF are as before
      return {kCarry, kCarry | overflow};
    default:
      return kSetsAll;
  }
}

/// By cl: nothing is certain to be set.
FlagEffects of_shift_by_cl(unsigned operation) {
  return {operation == 2 || operation == 3 ? kCarry : 0, 0};
}

FlagEffects of_group_3(const Encoding& encoding) {
  switch (encoding.extension()) {
    case 2:  // not
    case 6:
    case 7:  // div, idiv: all are undefined, but CPUs are known to leave some
      return kNone;
    default:  // test, neg, mul, imul
      return kSetsAll;
  }
}

/// FE, FF
FlagEffects of_group_5(const Encoding& encoding) {
  const bool is_byte = encoding.opcode == 0xFE;
  if (is_byte && encoding.extension() > 1) {
    return kUnknown;
  }
  switch (encoding.extension()) {
    case 0:
    case 1:  // inc, dec
      return {0, kAll & ~kCarry};
    case 2:
    case 4:
    case 6:  // call, jmp, push
      return kNone;
    default:  // far transfers
      return kUnknown;
  }
}

FlagEffects of_x87(const Encoding& encoding) {
  if (!encoding.names_register()) {
    return kNone;
  }
  const unsigned group = encoding.extension();
  const bool is_move = encoding.opcode == 0xDA || encoding.opcode == 0xDB;
  if (is_move && group < 4) {  // fcmovb, e, be, u and their opposites
    constexpr std::uint64_t kRead[] = {kCarry, kZero, kCarry | kZero, kParity};
    return {kRead[group], 0};
  }
  const bool is_compare = encoding.opcode == 0xDB || encoding.opcode == 0xDF;
  if (is_compare && (group == 5 || group == 6)) {  // fucomi, fcomi, and those that pop
    return {0, kZero | kParity | kCarry};
  }
  return kNone;
}

FlagEffects of_one_byte_high(const Encoding& encoding) {
  switch (encoding.opcode) {
    case 0xC0:
    case 0xC1:
      return of_shift(encoding.extension(), masked_count(encoding, encoding.opcode == 0xC0));
    case 0xD0:
    case 0xD1:
      return of_shift(encoding.extension(), 1);
    case 0xD2:
    case 0xD3:
      return of_shift_by_cl(encoding.extension());
    case 0xC6:
    case 0xC7:  // mov; the others are xabort and xbegin
      return encoding.extension() == 0 ? kNone : kUnknown;
    case 0xCC:
    case 0xCE:
    case 0xCF:
    case 0xF1:
    case 0xF4:  // traps, iret, hlt: whoever gets control may look
      return kUnknown;
    case 0xCD:  // int: of system calls, and of others
      return static_cast<std::uint8_t>(encoding.immediate) == 0x80 ? kNone : kUnknown;
    case 0xCA:
    case 0xCB:  // far returns
      return kUnknown;
    case 0xE0:
    case 0xE1:  // loopne, loope
      return {kZero, 0};
    case 0xF5:  // cmc
      return {kCarry, kCarry};
    case 0xF6:
    case 0xF7:
      return of_group_3(encoding);
    case 0xF8:
    case 0xF9:  // clc, stc
      return {0, kCarry};
    case 0xFE:
    case 0xFF:
      return of_group_5(encoding);
    default:
      return encoding.opcode >= 0xD8 && encoding.opcode <= 0xDF ? of_x87(encoding) : kNone;
  }
}

FlagEffects of_one_byte(const Encoding& encoding) {
  constexpr std::uint64_t kOfAh = kCarry | kParity | kAdjust | kZero | kSign;
  const unsigned opcode = encoding.opcode;
  if (opcode < 0x40) {
    return of_arithmetic(opcode >> 3U);
  }
  if ((opcode & 0xF0U) == 0x70U) {
    return {read_by_condition(opcode), 0};
  }
  switch (opcode) {
    case 0x80:
    case 0x81:
    case 0x83:
      return of_arithmetic(encoding.extension());
    case 0x69:
    case 0x6B:  // imul
    case 0x84:
    case 0x85:
    case 0xA8:
    case 0xA9:  // test
      return kSetsAll;
    case 0x9C:  // pushf
      return {kAll, 0};
    case 0x9D:  // popf
      return kSetsAll;
    case 0x9E:  // sahf
      return {0, kOfAh};
    case 0x9F:  // lahf
      return {kOfAh, 0};
    case 0xA6:
    case 0xA7:
    case 0xAE:
    case 0xAF:  // cmps, scas
      return encoding.rep || encoding.repne ? kNone : kSetsAll;
    default:
      return opcode >= 0xC0 ? of_one_byte_high(encoding) : kNone;
  }
}

}  // namespace

FlagEffects flag_effects(const Encoding& encoding) {
  switch (encoding.map) {
    case OpcodeMap::one_byte:
      return of_one_byte(encoding);
    case OpcodeMap::two_byte:
      return of_two_byte(encoding);
    case OpcodeMap::three_byte_38:
      return of_three_byte_38(encoding);
    case OpcodeMap::three_byte_3a:
      return of_three_byte_3a(encoding.opcode);
    case OpcodeMap::vector:
      return of_vector(encoding);
  }
  return kUnknown;
}

FlagUse flag_use(std::span<const std::byte> bytes) {
  const auto encoding = read_encoding(bytes);
  if (!encoding) {
    return {};
  }
  const FlagEffects effects = flag_effects(*encoding);
  return {effects.reads != 0, effects.kills == kArithmeticFlags};
}

}  // namespace sp::arch::x86_64
