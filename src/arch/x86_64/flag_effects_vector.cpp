#include "arch/x86_64/flag_families.h"
#include "arch/x86_64/vector_prefix.h"

namespace sp::arch::x86_64::flag_families {
namespace {

/// VEX and EVEX in the two-byte map.
FlagEffects of_vector_map_1(const Encoding& encoding, const VectorPrefix& prefix) {
  const unsigned opcode = encoding.opcode;
  const bool is_evex = encoding.vector_escape == 0x62;
  switch (opcode & 0xF0U) {
    case 0x00:
    case 0x30:
    case 0x80:
    case 0xA0:
    case 0xB0:
      return opcode == 0xAE && !is_evex && prefix.mandatory == 0 ? kNone : kUnknown;  // vldmxcsr
    case 0x90:
      if (opcode == 0x98 || opcode == 0x99) {  // kortest, ktest
        return is_evex ? kUnknown : kSetsAll;
      }
      return opcode <= 0x93 ? kNone : kUnknown;  // kmov
    default:
      break;
  }
  if (opcode == 0x2E || opcode == 0x2F) {  // vucomiss, vcomiss, and of doubles
    return prefix.mandatory <= 1 ? kSetsAll : kUnknown;
  }
  return kNone;
}

FlagEffects of_vector_map_2(const Encoding& encoding, const VectorPrefix& prefix) {
  const unsigned opcode = encoding.opcode;
  if (encoding.vector_escape == 0x62) {
    return opcode < 0xE0 ? kNone : kUnknown;  // APX has E0 and above
  }
  switch (opcode) {
    case 0x0E:
    case 0x0F:
    case 0x17:  // vtestps, vtestpd, vptest
    case 0xF2:  // andn
      return kSetsAll;
    case 0xF3:  // blsr, blsmsk, blsi
      return encoding.extension() >= 1 && encoding.extension() <= 3 ? kSetsAll : kUnknown;
    case 0xF5:  // bzhi; pdep, pext
    case 0xF7:  // bextr; shlx, sarx, shrx
      return prefix.mandatory == 0 ? kSetsAll : kNone;
    case 0xF6:  // mulx
      return prefix.mandatory == 3 ? kNone : kUnknown;
    default:
      return opcode < 0xE0 ? kNone : kUnknown;  // cmpccxadd
  }
}

FlagEffects of_vector_map_3(const Encoding& encoding) {
  if (encoding.vector_escape == 0x62) {
    return encoding.opcode < 0xE0 ? kNone : kUnknown;
  }
  return encoding.opcode == 0xF0 ? kNone : of_three_byte_3a(encoding.opcode);  // rorx
}

}  // namespace

FlagEffects of_three_byte_38(const Encoding& encoding) {
  const unsigned opcode = encoding.opcode;
  if (opcode == 0x17) {  // ptest
    return encoding.operand_size_prefix ? kSetsAll : kUnknown;
  }
  if (opcode <= 0x41 || (opcode >= 0xC8 && opcode <= 0xCF) || opcode == 0xF0 || opcode == 0xF1) {
    return kNone;  // SSSE3, SSE4.1, SHA; movbe, crc32
  }
  if (opcode >= 0xDB && opcode <= 0xDF) {
    return encoding.rep ? kUnknown : kNone;  // key locker; AES
  }
  if (opcode == 0xF6) {
    if (encoding.rep) {
      return {kOverflow, kOverflow};  // adox
    }
    return encoding.operand_size_prefix ? FlagEffects{kCarry, kCarry} : kUnknown;  // adcx
  }
  const bool is_store = opcode == 0xF9 && !encoding.rep && !encoding.repne;
  return is_store ? kNone : kUnknown;  // movdiri
}

FlagEffects of_three_byte_3a(unsigned opcode) {
  if (opcode >= 0x60 && opcode <= 0x63) {  // pcmpestrm and its like
    return kSetsAll;
  }
  const bool is_vector =
      opcode < 0x60 || opcode == 0xCC || opcode == 0xCE || opcode == 0xCF || opcode == 0xDF;
  return is_vector ? kNone : kUnknown;
}

FlagEffects of_vector(const Encoding& encoding) {
  const VectorPrefix prefix = vector_prefix(encoding);
  if (encoding.vector_escape == 0x8F || prefix.has_apx_bits) {
    return kUnknown;
  }
  switch (prefix.map) {
    case 1:
      return of_vector_map_1(encoding, prefix);
    case 2:
      return of_vector_map_2(encoding, prefix);
    case 3:
      return of_vector_map_3(encoding);
    case 5:  // half precision
    case 6:
      if (encoding.opcode == 0x2E || encoding.opcode == 0x2F) {  // vucomish, vcomish
        return prefix.map == 5 && prefix.mandatory == 0 ? kSetsAll : kUnknown;
      }
      return encoding.vector_escape == 0x62 ? kNone : kUnknown;
    default:
      return kUnknown;
  }
}

}  // namespace sp::arch::x86_64::flag_families
