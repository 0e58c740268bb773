#include <algorithm>
#include <cstdint>

#include "arch/aarch64/symbolic_families.h"
#include "arch/aarch64/symbolic_operands.h"
#include "arch/aarch64/symbolic_step.h"

namespace sp::arch::aarch64 {
namespace {

/// Sum or difference; sets the flags if the instruction does.
void add_or_subtract(SymbolicValues& values, std::uint32_t word, const SymbolicValue& a,
                     const SymbolicValue& b, bool may_name_sp) {
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
    write_register(values, rd(word), width, result);
  }
}

/// The lowest `bits` bits.
SymbolicValue low_bits(SymbolicValues& values, const SymbolicValue& value, unsigned bits,
                       bool is_signed) {
  if (bits == 8 || bits == 16 || bits == 32) {
    return values.extend(value, bits / 8, is_signed);
  }
  return is_signed
             ? values.unknown()
             : values.unknown(bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1);
}

}  // namespace

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
    const SymbolicValue b =
        is_lsl ? values.multiply(read_register(values, rm(word)), factor) : values.unknown();
    add_or_subtract(values, word, read_register(values, rn(word)), b, false);
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
      write_register(values, rd(word), width_of(word), values.unknown(mask));
      return;
    }
  }
  if (is_immediate) {
    values.forget(rd(word));
    return;
  }
  const bool is_move = operation == kOrr && rn(word) == kZeroRegister && field(word, 10, 6) == 0 &&
                       field(word, 21, 3) == 0;
  write_register(values, rd(word), width_of(word),
                 is_move ? read_register(values, rm(word)) : values.unknown());
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
  } else if (read_register(values, rd(word)).is_constant()) {
    const std::uint64_t kept =
        read_register(values, rd(word)).constant & ~(std::uint64_t{0xFFFF} << shift);
    value = SymbolicValues::constant(kept | immediate);
  }
  write_register(values, rd(word), width_of(word), value);
}

void follow_bit_field(SymbolicValues& values, std::uint32_t word) {
  constexpr std::uint32_t kUnsigned = 2;
  const std::uint32_t rotate = field(word, 16, 6);
  const std::uint32_t last = field(word, 10, 6);
  const unsigned width = width_of(word);
  const bool is_unsigned = field(word, 29, 2) == kUnsigned;
  const bool is_signed = field(word, 29, 2) == 0;
  SymbolicValue result = values.unknown();
  const SymbolicValue old = values.extend(read_register(values, rn(word)), width, false);
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
  write_register(values, rd(word), width, result);
}

void follow_select(SymbolicValues& values, std::uint32_t word) {
  const unsigned width = width_of(word);
  const bool is_csel = field(word, 10, 2) == 0 && field(word, 30, 1) == 0;
  const Relation relation = relation_of(field(word, 12, 4));
  const SymbolicValue then = values.extend(read_register(values, rn(word)), width, false);
  const SymbolicValue otherwise = values.extend(read_register(values, rm(word)), width, false);
  const auto a = values.most_if(relation, then);
  const auto b = values.most_if(opposite(relation), otherwise);
  const bool known = is_csel && a && b;
  write_register(values, rd(word), width,
                 known ? values.unknown(std::max(*a, *b)) : values.unknown());
}

}  // namespace sp::arch::aarch64
