#include "arch/aarch64/symbolic_step.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "arch/aarch64/encoding.h"

namespace sp::arch::aarch64 {
namespace {

constexpr std::uint32_t kZero = 31;  // xzr, where the instruction does not mean sp

std::uint32_t rd(std::uint32_t word) { return field(word, 0, 5); }
std::uint32_t rn(std::uint32_t word) { return field(word, 5, 5); }
std::uint32_t rm(std::uint32_t word) { return field(word, 16, 5); }
unsigned width_of(std::uint32_t word) { return (word >> 31U) != 0 ? 8 : 4; }

SymbolicValue read(const SymbolicValues& values, std::uint32_t reg) {
  return reg == kZero ? SymbolicValues::constant(0) : values.get(reg);
}

void write(SymbolicValues& values, std::uint32_t reg, unsigned width, const SymbolicValue& value) {
  if (reg != kZero) {
    values.set(reg, values.extend(value, width, false));
  }
}

void forget(SymbolicValues& values, std::uint32_t reg) {
  if (reg != kZero) {
    values.forget(reg);
  }
}

void forget_all(SymbolicValues& values) {
  for (unsigned reg = 0; reg < SymbolicValues::kRegisters; ++reg) {
    values.forget(reg);
  }
  values.forget_memory();
  values.forget_flags();
}

void follow_call(SymbolicValues& values) {
  constexpr unsigned kLastScratch = 18;
  constexpr unsigned kLink = 30;
  for (unsigned reg = 0; reg <= kLastScratch; ++reg) {
    values.forget(reg);
  }
  values.forget(kLink);
  values.forget_memory();
  values.forget_flags();
}

/// Sum or difference, with the flags where the instruction sets them.
void add_or_subtract(SymbolicValues& values, std::uint32_t word, const SymbolicValue& a, const SymbolicValue& b,
                     bool may_name_sp) {
  const bool subtracts = field(word, 30, 1) != 0;
  const bool sets_flags = field(word, 29, 1) != 0;
  const unsigned width = width_of(word);
  if (sets_flags && subtracts) {
    values.compare(a, b, width);
  } else if (sets_flags) {
    values.forget_flags();
  }
  const SymbolicValue result = subtracts ? values.subtract(a, b) : values.add(a, b);
  if (may_name_sp && !sets_flags && rd(word) == kSp) {
    values.set(kSp, result);
  } else {
    write(values, rd(word), width, result);
  }
}

/// uxtb to sxtx of the extended forms and of register offsets.
SymbolicValue extended(SymbolicValues& values, std::uint32_t reg, std::uint32_t option) {
  return values.extend(read(values, reg), 1U << (option & 3U), (option & 4U) != 0);
}

void follow_addition(SymbolicValues& values, std::uint32_t word) {
  const bool is_immediate = matches(word, 0x1F800000U, 0x11000000U);
  const bool is_extended = matches(word, 0x1F200000U, 0x0B200000U);
  if (is_immediate) {
    const auto immediate = std::uint64_t{field(word, 10, 12)} << (field(word, 22, 1) * 12U);
    add_or_subtract(values, word, values.get(rn(word)), SymbolicValues::constant(immediate), true);
  } else if (is_extended) {
    const auto factor = std::uint64_t{1} << field(word, 10, 3);
    const SymbolicValue b = values.multiply(extended(values, rm(word), field(word, 13, 3)), factor);
    add_or_subtract(values, word, values.get(rn(word)), b, true);
  } else {
    const bool is_lsl = field(word, 22, 2) == 0;
    const auto factor = std::uint64_t{1} << field(word, 10, 6);
    const SymbolicValue b = is_lsl ? values.multiply(read(values, rm(word)), factor) : values.unknown();
    add_or_subtract(values, word, read(values, rn(word)), b, false);
  }
}

void follow_logic(SymbolicValues& values, std::uint32_t word) {
  const std::uint32_t operation = field(word, 29, 2);
  constexpr std::uint32_t kAnd = 0;
  constexpr std::uint32_t kOrr = 1;
  constexpr std::uint32_t kAnds = 3;
  if (operation == kAnds) {
    values.forget_flags();
  }
  const bool is_immediate = matches(word, 0x1F800000U, 0x12000000U);
  const bool is_plain = field(word, 16, 6) == 0 && field(word, 22, 1) == (word >> 31U);
  if (is_immediate && (operation == kAnd || operation == kAnds) && is_plain) {
    const std::uint32_t ones = field(word, 10, 6) + 1;  // from bit 0 up
    const auto mask = ones >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << ones) - 1;
    if (rd(word) != kSp || operation == kAnds) {
      write(values, rd(word), width_of(word), values.unknown(mask));
      return;
    }
  }
  if (is_immediate) {
    values.forget(rd(word));
    return;
  }
  const bool is_move =
      operation == kOrr && rn(word) == kZero && field(word, 10, 6) == 0 && field(word, 21, 3) == 0;
  write(values, rd(word), width_of(word), is_move ? read(values, rm(word)) : values.unknown());
}

void follow_wide_move(SymbolicValues& values, std::uint32_t word) {
  const unsigned shift = field(word, 21, 2) * 16U;
  const auto immediate = std::uint64_t{field(word, 5, 16)} << shift;
  constexpr std::uint32_t kMovn = 0;
  constexpr std::uint32_t kMovz = 2;
  SymbolicValue value = values.unknown();
  if (field(word, 29, 2) == kMovz) {
    value = SymbolicValues::constant(immediate);
  } else if (field(word, 29, 2) == kMovn) {
    value = SymbolicValues::constant(~immediate);
  } else if (read(values, rd(word)).is_constant()) {
    const std::uint64_t kept = read(values, rd(word)).constant & ~(std::uint64_t{0xFFFF} << shift);
    value = SymbolicValues::constant(kept | immediate);
  }
  write(values, rd(word), width_of(word), value);
}

/// The lowest `bits` bits.
SymbolicValue low_bits(SymbolicValues& values, const SymbolicValue& value, unsigned bits, bool is_signed) {
  if (bits == 8 || bits == 16 || bits == 32) {
    return values.extend(value, bits / 8, is_signed);
  }
  return is_signed
             ? values.unknown()
             : values.unknown(bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1);
}

/// ubfm, sbfm, bfm with their names lsl, lsr, uxtb, ubfiz, sxtw and so on.
void follow_bit_field(SymbolicValues& values, std::uint32_t word) {
  constexpr std::uint32_t kUnsigned = 2;
  const std::uint32_t rotate = field(word, 16, 6);
  const std::uint32_t last = field(word, 10, 6);
  const unsigned width = width_of(word);
  const bool is_unsigned = field(word, 29, 2) == kUnsigned;
  const bool is_signed = field(word, 29, 2) == 0;
  SymbolicValue result = values.unknown();
  const SymbolicValue old = values.extend(read(values, rn(word)), width, false);
  if (rotate == 0 && (is_unsigned || is_signed)) {
    result = low_bits(values, old, last + 1, is_signed);
  } else if (last < rotate && (is_unsigned || is_signed)) {
    const unsigned shift = width * 8U - rotate;
    const bool is_lsl = last + 1 == rotate && is_unsigned;
    const SymbolicValue bits = is_lsl ? old : low_bits(values, old, last + 1, is_signed);
    result = values.multiply(bits, std::uint64_t{1} << shift);
  } else if (is_unsigned) {
    const unsigned kept = last - rotate + 1;
    const auto mask = kept >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << kept) - 1;
    const auto most = values.most(old);
    result = values.unknown(most ? std::min(*most >> rotate, mask) : mask);
  }
  write(values, rd(word), width, result);
}

void follow_select(SymbolicValues& values, std::uint32_t word) {
  const unsigned width = width_of(word);
  const bool is_csel = field(word, 10, 2) == 0 && field(word, 30, 1) == 0;
  const Relation relation = relation_of(field(word, 12, 4));
  const SymbolicValue then = values.extend(read(values, rn(word)), width, false);
  const SymbolicValue otherwise = values.extend(read(values, rm(word)), width, false);
  const auto a = values.most_if(relation, then);
  const auto b = values.most_if(opposite(relation), otherwise);
  const bool known = is_csel && a && b;
  write(values, rd(word), width, known ? values.unknown(std::max(*a, *b)) : values.unknown());
}

/// A load or store of one register.
void access(SymbolicValues& values, std::uint32_t word, const SymbolicValue& address) {
  const unsigned width = 1U << field(word, 30, 2);
  const std::uint32_t operation = field(word, 22, 2);
  if (field(word, 26, 1) != 0) {  // vector registers
    if ((operation & 1U) == 0) {
      values.forget_memory();
    }
    return;
  }
  if (operation == 0) {
    values.store(address, width, values.extend(read(values, rd(word)), width, false));
  } else if (operation == 1) {
    write(values, rd(word), 8, values.load(address, width, false));
  } else if (width < 8) {  // else it is prfm
    write(values, rd(word), operation == 2 ? 8 : 4, values.load(address, width, true));
  }
}

void follow_indexed_access(SymbolicValues& values, std::uint32_t word) {
  const std::uint32_t mode = field(word, 10, 2);
  const auto offset = SymbolicValues::constant(signed_field(word, 12, 9));
  const SymbolicValue old = values.get(rn(word));
  const SymbolicValue moved = values.add(old, offset);
  constexpr std::uint32_t kPost = 1;
  constexpr std::uint32_t kPre = 3;
  if (mode == kPost || mode == kPre) {
    values.set(rn(word), moved);
  }
  access(values, word, mode == kPost ? old : moved);
}

void follow_pair(SymbolicValues& values, std::uint32_t word) {
  const bool is_load = field(word, 22, 1) != 0;
  const bool moves_base = field(word, 23, 1) != 0;
  const bool is_vector = field(word, 26, 1) != 0;
  const auto scale = std::uint64_t{4} << field(word, 31, 1);
  if (moves_base && !is_vector) {
    const std::uint64_t offset = signed_field(word, 15, 7) * scale;
    values.set(rn(word), values.add(values.get(rn(word)), SymbolicValues::constant(offset)));
  } else if (moves_base) {
    values.forget(rn(word));
  }
  if (!is_load) {
    values.forget_memory();
  } else if (!is_vector) {
    forget(values, rd(word));
    forget(values, field(word, 10, 5));
  }
}

void follow_memory(SymbolicValues& values, std::uint32_t word) {
  if (matches(word, 0x3B000000U, 0x39000000U)) {
    const auto offset = std::uint64_t{field(word, 10, 12)} << field(word, 30, 2);
    access(values, word, values.add(values.get(rn(word)), SymbolicValues::constant(offset)));
  } else if (matches(word, 0x3B200C00U, 0x38200800U)) {
    const auto factor = std::uint64_t{1} << (field(word, 12, 1) * field(word, 30, 2));
    const SymbolicValue index = extended(values, rm(word), field(word, 13, 3));
    access(values, word, values.add(values.get(rn(word)), values.multiply(index, factor)));
  } else if (matches(word, 0x3B200000U, 0x38000000U)) {
    follow_indexed_access(values, word);
  } else if (matches(word, 0x3A000000U, 0x28000000U)) {
    follow_pair(values, word);
  } else if (matches(word, 0x3B000000U, 0x18000000U)) {  // ldr of a literal
    forget(values, rd(word));
  } else {  // exclusive, atomic and vector structures
    for (const unsigned low : {0U, 5U, 10U, 16U}) {
      values.forget(field(word, low, 5));
    }
    values.forget_memory();
  }
}

/// Data processing with registers (Arm ARM, C4.1.67).
void follow_register_operation(SymbolicValues& values, std::uint32_t word) {
  if (matches(word, 0x1F000000U, 0x0B000000U)) {
    follow_addition(values, word);
  } else if (matches(word, 0x1F000000U, 0x0A000000U)) {
    follow_logic(values, word);
  } else if (matches(word, 0x1FE00000U, 0x1A800000U)) {
    follow_select(values, word);
  } else {
    values.forget_flags();
    forget(values, rd(word));
  }
}

/// Data processing with immediates (C4.1.65).
void follow_immediate_operation(SymbolicValues& values, std::uint32_t word, core::Address address) {
  if (is_adr(word)) {
    write(values, rd(word), 8, SymbolicValues::constant(adr_value(word, address.value())));
  } else if (matches(word, 0x1F800000U, 0x11000000U)) {
    follow_addition(values, word);
  } else if (matches(word, 0x1F800000U, 0x12000000U)) {
    follow_logic(values, word);
  } else if (matches(word, 0x1F800000U, 0x12800000U)) {
    follow_wide_move(values, word);
  } else if (matches(word, 0x1F800000U, 0x13000000U)) {
    follow_bit_field(values, word);
  } else {  // extr, and addition of tags
    values.forget(rd(word));
    values.forget_flags();
  }
}

void follow_branch_or_system(SymbolicValues& values, std::uint32_t word) {
  const bool is_hint = matches(word, 0xFFFFF01FU, 0xD503201FU);
  const bool is_blr = is_register_branch(word) && register_branch(word) == RegisterBranch::blr;
  if (is_bl(word) || is_blr) {
    follow_call(values);
  } else if (!is_hint && !is_b(word) && !is_b_cond(word) && !is_cbz(word) && !is_tbz(word) &&
             !is_register_branch(word)) {
    values.forget(0);  // system calls, mrs
    values.forget(rd(word));
    values.forget_memory();
    values.forget_flags();
  }
}

}  // namespace

Relation relation_of(std::uint32_t condition) {
  constexpr std::array kRelations = {Relation::equal,
                                     Relation::not_equal,
                                     Relation::above_or_equal,
                                     Relation::below,
                                     Relation::other,
                                     Relation::other,
                                     Relation::other,
                                     Relation::other,
                                     Relation::above,
                                     Relation::below_or_equal,
                                     Relation::greater_or_equal,
                                     Relation::less,
                                     Relation::greater,
                                     Relation::less_or_equal,
                                     Relation::other,
                                     Relation::other};
  return kRelations[condition & 0xFU];
}

void follow_instruction(SymbolicValues& values, std::uint32_t word, core::Address address) {
  const std::uint32_t group = field(word, 25, 4);
  if ((group & 0xEU) == 0x8U) {
    follow_immediate_operation(values, word, address);
  } else if ((group & 0xEU) == 0xAU) {
    follow_branch_or_system(values, word);
  } else if ((group & 0x5U) == 0x4U) {
    follow_memory(values, word);
  } else if ((group & 0x7U) == 0x5U) {
    follow_register_operation(values, word);
  } else if ((group & 0x7U) == 0x7U) {  // vectors and floats, some of them to a general register
    forget(values, rd(word));
    values.forget_flags();
  } else {
    forget_all(values);
  }
}

}  // namespace sp::arch::aarch64
