#include "arch/x86_64/pointer_source.h"

#include "arch/x86_64/encoding.h"
#include "arch/x86_64/register_effects.h"

namespace sp::arch::x86_64 {
namespace {

constexpr std::uint8_t kGroup5 = 0xFF;
constexpr std::uint8_t kMovFromRm = 0x8B;
constexpr std::uint8_t kMovToRm = 0x89;

/// One-byte instructions whose only result goes to the register or memory in the rm field.
bool writes_rm(const Encoding& encoding) {
  const bool is_arithmetic = encoding.opcode < 0x40 && (encoding.opcode & 7U) < 2;
  const bool is_group = encoding.opcode == 0x80 || encoding.opcode == 0x81 ||
                        encoding.opcode == 0x83 || encoding.opcode == 0xC0 ||
                        encoding.opcode == 0xC1 || (encoding.opcode & 0xFCU) == 0xD0U;
  const bool is_move = encoding.opcode == 0x88 || encoding.opcode == kMovToRm ||
                       encoding.opcode == 0xC6 || encoding.opcode == 0xC7;
  return is_arithmetic || is_group || is_move;
}

/// Likewise, to the register in the reg field.
bool writes_reg(const Encoding& encoding) {
  const bool is_arithmetic =
      encoding.opcode < 0x40 && (encoding.opcode & 7U) >= 2 && (encoding.opcode & 7U) < 4;
  return is_arithmetic || encoding.opcode == 0x8A || encoding.opcode == kMovFromRm ||
         encoding.opcode == 0x8D || encoding.opcode == 0x63;
}

/// They change flags alone.
bool only_compares(const Encoding& encoding) {
  constexpr unsigned kCompare = 7;
  const bool is_compare_group =
      (encoding.opcode == 0x80 || encoding.opcode == 0x81 || encoding.opcode == 0x83) &&
      encoding.extension() == kCompare;
  const bool is_test_group =
      (encoding.opcode == 0xF6 || encoding.opcode == 0xF7) && encoding.extension() < 2;
  return (encoding.opcode >= 0x38 && encoding.opcode <= 0x3D) || encoding.opcode == 0x84 ||
         encoding.opcode == 0x85 || encoding.opcode == 0xA8 || encoding.opcode == 0xA9 ||
         is_compare_group || is_test_group;
}

/// The general register that a field of a one-byte instruction names: ah, ch, dh and bh are in rax
/// to rbx.
unsigned whole_register(const Encoding& encoding, unsigned field) {
  const bool is_byte = (encoding.opcode & 1U) == 0;
  const bool is_high_byte = is_byte && encoding.rex == 0 && field >= 4;
  return is_high_byte ? field - 4 : field;
}

bool may_write(const Encoding& encoding, unsigned reg) {
  const RegisterEffects effects = register_effects(encoding);
  if (((effects.reads | effects.overwrites) & (1U << reg)) == 0) {
    return false;
  }
  if (encoding.map == OpcodeMap::one_byte) {
    const bool is_push = (encoding.opcode & 0xF8U) == 0x50U;
    if (only_compares(encoding) || is_push) {
      return false;
    }
    if (writes_rm(encoding)) {
      return encoding.names_register() && whole_register(encoding, encoding.rm()) == reg;
    }
    return !writes_reg(encoding) || whole_register(encoding, encoding.reg()) == reg;
  }
  const bool extends = encoding.map == OpcodeMap::two_byte && (encoding.opcode & 0xF6U) == 0xB6U;
  const bool is_jump = encoding.map == OpcodeMap::two_byte && (encoding.opcode & 0xF0U) == 0x80U;
  return !is_jump && (!extends || encoding.reg() == reg);
}

}  // namespace

std::optional<JumpSource> jump_source(std::span<const std::byte> code) {
  constexpr unsigned kNearJump = 4;
  const auto encoding = read_encoding(code);
  if (!encoding || encoding->map != OpcodeMap::one_byte || encoding->opcode != kGroup5 ||
      encoding->extension() != kNearJump || encoding->is_narrow()) {
    return std::nullopt;
  }
  return JumpSource{encoding->names_memory(), encoding->names_memory() ? 0 : encoding->rm()};
}

WrittenFrom written_from(std::span<const std::byte> code, unsigned reg) {
  const auto encoding = read_encoding(code);
  if (!encoding) {
    return {RegisterSource::computed};
  }
  const bool is_one_byte = encoding->map == OpcodeMap::one_byte;
  if (is_one_byte && encoding->opcode == kMovFromRm && encoding->wide() && encoding->reg() == reg) {
    return encoding->names_memory() ? WrittenFrom{RegisterSource::memory}
                                    : WrittenFrom{RegisterSource::other_register, encoding->rm()};
  }
  if (is_one_byte && encoding->opcode == kMovToRm && encoding->wide() &&
      encoding->names_register() && encoding->rm() == reg) {
    return {RegisterSource::other_register, encoding->reg()};
  }
  const bool is_pop = is_one_byte && (encoding->opcode & 0xF8U) == 0x58U;
  if (is_pop && encoding->opcode_reg() == reg) {
    return {RegisterSource::memory};
  }
  return {may_write(*encoding, reg) ? RegisterSource::computed : RegisterSource::unchanged};
}

bool is_padding(std::span<const std::byte> code) {
  constexpr std::uint8_t kNop = 0x90;
  constexpr std::uint8_t kLongNop = 0x1F;
  constexpr std::uint8_t kInt3 = 0xCC;
  while (!code.empty()) {
    const auto encoding = read_encoding(code);
    const bool is_nop =
        encoding && ((encoding->map == OpcodeMap::one_byte && encoding->rex == 0 &&
                      !encoding->rep && (encoding->opcode == kNop || encoding->opcode == kInt3)) ||
                     (encoding->map == OpcodeMap::two_byte && encoding->opcode == kLongNop));
    if (!is_nop) {
      return false;
    }
    code = code.subspan(encoding->length);
  }
  return true;
}

}  // namespace sp::arch::x86_64
