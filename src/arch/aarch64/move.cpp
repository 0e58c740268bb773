#include "arch/aarch64/move.h"

#include <algorithm>

#include "arch/aarch64/atomic_sequence.h"
#include "arch/aarch64/decoder.h"
#include "arch/aarch64/encoding.h"

namespace sp::arch::aarch64 {
namespace {

using core::Address;
using core::CopyRefusal;
using core::Flow;
using Field = MovedInstruction::Field;

constexpr std::uint64_t kPage = 0x1000;

/// Distances from -2^(bits - 1) on, below 2^(bits - 1).
bool fits(std::uint64_t distance, unsigned bits) {
  const std::uint64_t half = 1ULL << (bits - 1U);
  return distance + half < 2 * half;
}

std::uint32_t low_bits(std::uint64_t value, unsigned bits) {
  return static_cast<std::uint32_t>(value & ((1ULL << bits) - 1U));
}

void put(MovedInstruction& moved, std::uint32_t word) {
  for (unsigned i = 0; i < kWord; ++i) {
    moved.bytes[i] = static_cast<std::byte>((word >> (8U * i)) & 0xFFU);
  }
}

/// ldxr, stxr and related ones; not casp, which shares their bits.
bool is_exclusive(std::uint32_t word) {
  const bool is_casp = field(word, 21, 1) == 1 && field(word, 31, 1) == 0;
  return matches(word, 0x3F800000U, 0x08000000U) && !is_casp;
}

/// Has an effect on its successor, which has to be the next instruction.
bool is_prefix(std::uint32_t word) {
  return matches(word, 0xFFFFFC00U, 0x0420BC00U) || matches(word, 0xFF3EE000U, 0x04102000U);
}

std::size_t bound_length(std::span<const std::byte> code, std::uint32_t word) {
  if (is_prefix(word)) {
    return 2 * kWord;
  }
  const std::size_t sequence = atomic_sequence_length(code);
  return sequence > 0 && relocate_atomic_sequence(code, Address{}, Address{}) ? sequence : 0;
}

/// Depends on its own address in ways other than those that are known here, or belongs to a
/// sequence that has to be executed as it is.
bool is_unmovable(std::uint32_t word, Flow flow) {
  const std::uint32_t group = field(word, 25, 4);
  if ((group & 0xEU) == 0xAU) {  // branches and system instructions
    const bool is_system = matches(word, 0xFFC00000U, 0xD5000000U);
    const bool is_transaction = matches(word, 0xFFFFFFE0U, 0xD5233060U);
    const bool is_known = is_b(word) || is_bl(word) || is_b_cond(word) || is_cbz(word) ||
                          is_tbz(word) || is_exception(word) || is_system ||
                          (is_register_branch(word) && flow != Flow::next);
    return !is_known || is_transaction ||
           (flow == Flow::ret && register_branch(word) == RegisterBranch::other);
  }
  // Signatures that pc is a part of, and copies of memory in three instructions (FEAT_MOPS).
  return matches(word, 0xFFA00000U, 0xF3800000U) || matches(word, 0xFFFF8000U, 0xDAC18000U) ||
         matches(word, 0x3B200C00U, 0x19000400U);
}

bool is_literal(std::uint32_t word) { return matches(word, 0x3B000000U, 0x18000000U); }
bool is_vector(std::uint32_t word) { return field(word, 26, 1) == 1; }

std::uint32_t add_low(unsigned reg, std::uint64_t value) {  // add reg, reg, #value[11:0]
  return 0x91000000U | (low_bits(value, 12) << 10U) | (reg << 5U) | reg;
}
MovedInstruction page_of(unsigned reg, Address value) {  // adrp
  return {0x90000000U | reg, Field::page, value};
}

/// ldr and ldrsw of a literal.
std::optional<MovedCode> move_literal(std::uint32_t word, Address literal) {
  constexpr std::array kLoadFromBase = {0xB9400000U, 0xF9400000U, 0xB9800000U};
  const std::uint32_t operation = field(word, 30, 2);
  const unsigned reg = field(word, 0, 5);
  if (operation == 3) {  // prfm: a hint
    return MovedCode{MovedInstruction(0xD503201FU)};
  }
  if (reg == kZeroRegister) {
    return std::nullopt;
  }
  return MovedCode{page_of(reg, literal), MovedInstruction(add_low(reg, literal.value())),
                   MovedInstruction(kLoadFromBase[operation] | (reg << 5U) | reg)};
}

/// ldr of a vector register: the literal stands behind it, and behind a jump over that.
std::optional<MovedCode> move_vector_literal(std::uint32_t word, Address literal,
                                             std::span<const std::byte> function, Address begin) {
  const std::uint32_t operation = field(word, 30, 2);
  const std::size_t size = std::size_t{4} << operation;
  const std::uint64_t at = literal - begin;
  if (operation == 3 || literal < begin || at + size > function.size()) {
    return std::nullopt;
  }
  constexpr std::uint32_t kBehindJump = 2U << 5U;
  const auto words = static_cast<std::uint32_t>(1 + size / kWord);
  MovedCode moved{MovedInstruction((word & ~0x00FFFFE0U) | kBehindJump),
                  MovedInstruction(0x14000000U | words)};
  const auto bytes = function.subspan(at, size);
  std::copy(bytes.begin(), bytes.end(), moved[2].bytes.begin());
  moved[2].size = static_cast<std::uint8_t>(size);
  return moved;
}

}  // namespace

std::optional<SourceInstruction> read_instruction(std::span<const std::byte> bytes,
                                                  Address address) {
  const auto word = read_word(bytes);
  const auto instruction = decode(bytes, address);
  if (!word || !instruction) {
    return std::nullopt;
  }
  return SourceInstruction{bytes.first(kWord), *word, *instruction,
                           static_cast<std::uint8_t>(bound_length(bytes, *word)), false};
}

void MovedInstruction::append(std::uint32_t word) {
  for (unsigned i = 0; i < kWord; ++i) {
    bytes[size++] = static_cast<std::byte>((word >> (8U * i)) & 0xFFU);
  }
}

bool place(MovedInstruction& moved, Address at) {
  const std::uint32_t word = *read_word(moved.bytes);
  const std::uint64_t distance = moved.target.value() - at.value();
  switch (moved.field) {
    case Field::none:
      return true;
    case Field::imm26:
      put(moved, (word & ~0x03FFFFFFU) | low_bits(distance >> 2U, 26));
      return fits(distance, 28);
    case Field::imm19:
      put(moved, (word & ~0x00FFFFE0U) | (low_bits(distance >> 2U, 19) << 5U));
      return fits(distance, 21);
    case Field::imm14:
      put(moved, (word & ~0x0007FFE0U) | (low_bits(distance >> 2U, 14) << 5U));
      return fits(distance, 16);
    case Field::page: {
      const std::uint64_t pages =
          (moved.target.value() & ~(kPage - 1)) - (at.value() & ~(kPage - 1));
      const std::uint64_t count = pages >> 12U;
      put(moved,
          (word & ~0x60FFFFE0U) | (low_bits(count, 2) << 29U) | (low_bits(count >> 2U, 19) << 5U));
      return fits(pages, 33);
    }
  }
  return false;
}

bool reaches(Address from, Address target, unsigned /*size*/) {
  return fits(target.value() - from.value(), 28);
}

std::optional<CopyRefusal> refuse_move(const SourceInstruction& source) {
  const bool is_alone = is_exclusive(source.word) && !source.is_bound && source.bound_length == 0;
  return is_alone || is_unmovable(source.word, source.instruction.flow)
             ? std::optional(CopyRefusal::unmovable)
             : std::nullopt;
}

std::size_t padding_length(std::span<const std::byte> code) {
  const auto word = read_word(code);
  const bool is_padding =
      word && (*word == 0xD503201FU || is_udf(*word) || matches(*word, 0xFFE0001FU, 0xD4200000U));
  return is_padding ? kWord : 0;
}

std::uint8_t pad_length(const SourceInstruction& first) {
  const bool is_bti = matches(first.word, 0xFFFFFF3FU, 0xD503241FU);
  const bool signs = matches(first.word, 0xFFFFFFBFU, 0xD503233FU);  // paciasp, pacibsp
  return is_bti || signs ? kWord : 0;
}

std::optional<MovedCode> move_plain(const SourceInstruction& source,
                                    std::span<const std::byte> function, Address begin) {
  const std::uint32_t word = source.word;
  const Address at = source.instruction.address;
  if (is_literal(word)) {
    const Address literal = at + offset_19(word);
    return is_vector(word) ? move_vector_literal(word, literal, function, begin)
                           : move_literal(word, literal);
  }
  if (!is_adr(word)) {
    return MovedCode{MovedInstruction(word)};
  }
  const unsigned reg = field(word, 0, 5);
  const Address value{adr_value(word, at.value())};
  if (reg == kZeroRegister) {
    return MovedCode{MovedInstruction(0xD503201FU)};
  }
  const bool is_page = field(word, 31, 1) == 1;
  return is_page ? MovedCode{page_of(reg, value)}
                 : MovedCode{page_of(reg, value), MovedInstruction(add_low(reg, value.value()))};
}

std::optional<std::vector<JumpPart>> move_jump(const SourceInstruction& source, Address target,
                                               std::uint64_t within) {
  using Where = JumpPart::Where;
  if (source.instruction.flow == Flow::jump) {
    return std::vector<JumpPart>{{jump_to(target), Where::jump}};
  }
  const bool is_test = is_tbz(source.word);
  if (within <= (is_test ? 1ULL << 15U : 1ULL << 20U)) {
    const Field offset = is_test ? Field::imm14 : Field::imm19;
    return std::vector<JumpPart>{{MovedInstruction(source.word, offset, target), Where::jump}};
  }
  constexpr std::uint32_t kOverOne = 2U << 5U;
  const std::uint32_t inverts = is_b_cond(source.word) ? 1U : 1U << 24U;
  const std::uint32_t offset = is_test ? 0x0007FFE0U : 0x00FFFFE0U;
  return std::vector<JumpPart>{
      {MovedInstruction(((source.word ^ inverts) & ~offset) | kOverOne), Where::jump},
      {jump_to(target), Where::target}};
}

MovedInstruction jump_to(Address target) { return {0x14000000U, Field::imm26, target}; }

std::vector<MovedInstruction> move_number(unsigned reg, std::uint64_t value) {
  const auto piece = [value](unsigned i) { return low_bits(value >> (16U * i), 16) << 5U; };
  std::vector<MovedInstruction> moves{MovedInstruction(0xD2800000U | piece(0) | reg)};
  for (unsigned i = 1; i < 4; ++i) {
    if (piece(i) != 0) {
      moves.emplace_back(0xF2800000U | (i << 21U) | piece(i) | reg);
    }
  }
  return moves;
}

}  // namespace sp::arch::aarch64
