#include "arch/x86_64/register_families.h"
#include "arch/x86_64/vector_prefix.h"

namespace sp::arch::x86_64::register_families {
namespace {

/// pcmpestrm, pcmpestri, pcmpistrm, pcmpistri
RegisterEffects of_string_compare(const Encoding& encoding) {
  Operands operands(encoding);
  const bool has_lengths = encoding.opcode < 0x62;
  const bool gives_index = (encoding.opcode & 1U) != 0;
  if (has_lengths) {
    operands.read({kA, kD});
  }
  return (gives_index ? operands.overwrite({kC}) : operands).effects();
}

/// pextrb, pextrw, pextrd, extractps; pinsrb, pinsrd; of all prefixes.
RegisterEffects of_extract_and_insert(const Encoding& encoding) {
  Operands operands(encoding);
  switch (encoding.opcode) {
    case 0x14:
    case 0x15:
    case 0x16:
    case 0x17:
      return operands.write_rm(8).effects();
    case 0x20:
    case 0x22:
      return operands.read_rm(8).effects();
    default:
      return operands.effects();
  }
}

bool is_string_compare(unsigned opcode) { return opcode >= 0x60 && opcode <= 0x63; }

/// VEX and EVEX in the two-byte map, and the half-precision ones that EVEX has in map 5.
RegisterEffects of_map_1(const Encoding& encoding, const VectorPrefix& prefix) {
  Operands operands(encoding);
  const bool is_scalar = prefix.mandatory >= 2;
  const bool is_evex = encoding.vector_escape == 0x62;
  switch (encoding.opcode) {
    case 0x2A:  // vcvtsi2ss, vcvtsi2sd
      return (is_scalar ? operands.read_rm(8) : operands).effects();
    case 0x2C:
    case 0x2D:  // vcvttss2si and its like
      return (is_scalar ? operands.write_reg(8) : operands).effects();
    case 0x50:
    case 0xC5:
    case 0xD7:  // vmovmskps, vpextrw, vpmovmskb
      return (is_evex && encoding.opcode != 0xC5 ? operands : operands.write_reg(8)).effects();
    case 0x6E:
    case 0x92:
    case 0xC4:  // vmovd, kmov, vpinsrw
      return operands.read_rm(8).effects();
    case 0x7E:  // vmovd; with F3 between vector registers
      return (prefix.mandatory == 1 ? operands.write_rm(8) : operands).effects();
    case 0x93:  // kmov
      return operands.write_reg(8).effects();
    case 0x78:
    case 0x79:  // vcvttss2usi and its like
      return (is_scalar && is_evex ? operands.write_reg(8) : operands).effects();
    case 0x7B:  // vcvtusi2ss
      return operands.read_rm(8).effects();
    case 0xF7:  // vmaskmovdqu
      return operands.read({kDestination}).effects();
    default:
      return operands.effects();
  }
}

RegisterEffects of_map_2(const Encoding& encoding, const VectorPrefix& prefix) {
  Operands operands(encoding);
  const unsigned opcode = encoding.opcode;
  if (encoding.vector_escape == 0x62) {
    const bool broadcasts = opcode >= 0x7A && opcode <= 0x7C;  // vpbroadcastb to q
    return opcode >= 0xE0 ? Operands::unknown()
                          : (broadcasts ? operands.read_rm(8) : operands).effects();
  }
  switch (opcode) {
    case 0xF2:  // andn
    case 0xF5:  // bzhi, pdep, pext
    case 0xF7:  // bextr, shlx, sarx, shrx
      return operands.read_rm(8).read({prefix.vvvv}).write_reg(8).effects();
    case 0xF3:  // blsr, blsmsk, blsi
      return operands.read_rm(8).write(prefix.vvvv, 8).effects();
    case 0xF6:  // mulx
      return operands.read_rm(8).read({kD}).write_reg(8).write(prefix.vvvv, 8).effects();
    default:
      return opcode < 0xE0 ? operands.effects() : Operands::unknown();
  }
}

RegisterEffects of_map_3(const Encoding& encoding) {
  const bool is_evex = encoding.vector_escape == 0x62;
  if (!is_evex && is_string_compare(encoding.opcode)) {
    return of_string_compare(encoding);
  }
  if (!is_evex && encoding.opcode == 0xF0) {  // rorx
    return Operands(encoding).read_rm(8).write_reg(8).effects();
  }
  return encoding.opcode < 0xE0 ? of_extract_and_insert(encoding) : Operands::unknown();
}

}  // namespace

RegisterEffects of_three_byte_38(const Encoding& encoding) {
  Operands operands(encoding);
  const unsigned opcode = encoding.opcode;
  switch (opcode) {
    case 0xF0:
    case 0xF1:
      if (encoding.repne) {  // crc32
        const unsigned width = operands.byte_or_word();
        return operands.read_reg(8).read_rm(width).effects();
      }
      return (opcode == 0xF0 ? operands.write_reg(operands.word()) : operands.read_reg(8))
          .effects();  // movbe
    case 0xF6:         // adcx, adox, wrss
      return operands.read_reg(8).read_rm(8).effects();
    case 0xF9:  // movdiri
      return operands.read_reg(8).effects();
    default: {
      const bool is_vector = opcode <= 0x41 || (opcode >= 0xC8 && opcode <= 0xDF);
      return is_vector ? operands.effects() : Operands::unknown();
    }
  }
}

RegisterEffects of_three_byte_3a(const Encoding& encoding) {
  if (is_string_compare(encoding.opcode)) {
    return of_string_compare(encoding);
  }
  return encoding.opcode < 0xE0 ? of_extract_and_insert(encoding) : Operands::unknown();
}

/// With the bits of REX from the prefix, so that the fields of ModRM and SIB are read as in other
/// instructions.
RegisterEffects of_vector(const Encoding& encoding) {
  const VectorPrefix prefix = vector_prefix(encoding);
  const bool is_xop = encoding.vector_escape == 0x8F;
  if (is_xop || prefix.has_apx_bits) {
    return Operands::unknown();
  }
  Encoding extended = encoding;
  extended.rex =
      static_cast<std::uint8_t>(0x40U | (prefix.wide ? 8U : 0U) | prefix.reg_extension >> 1U |
                                prefix.index_extension >> 2U | prefix.rm_extension >> 3U);
  switch (prefix.map) {
    case 1:
    case 5:
      return of_map_1(extended, prefix);
    case 2:
      return of_map_2(extended, prefix);
    case 3:
      return of_map_3(extended);
    case 6:
      return Operands(extended).effects();
    default:
      return Operands::unknown();
  }
}

}  // namespace sp::arch::x86_64::register_families
