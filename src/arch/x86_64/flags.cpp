#include "arch/x86_64/flags.h"

#include <bit>

namespace sp::arch::x86_64 {
namespace {

std::uint64_t sign_bit(unsigned width) { return 1ULL << (8U * width - 1U); }

std::uint64_t flag_where(bool holds, std::uint64_t flag) { return holds ? flag : 0; }

std::uint64_t flags_of_value(std::uint64_t value, unsigned width) {
  return flag_where(value == 0, kZero) | flag_where((value & sign_bit(width)) != 0, kSign) |
         flag_where(std::popcount(value & 0xFFU) % 2 == 0, kParity);
}

}  // namespace

std::uint64_t truncate(std::uint64_t value, unsigned width) {
  return value & (sign_bit(width) | (sign_bit(width) - 1U));
}

std::uint64_t sign_extend(std::uint64_t value, unsigned width) {
  const std::uint64_t sign = sign_bit(width);
  return (truncate(value, width) ^ sign) - sign;
}

bool condition_holds(unsigned condition, std::uint64_t eflags) {
  const auto is_set = [eflags](std::uint64_t flag) { return (eflags & flag) != 0; };
  const bool is_less = is_set(kSign) != is_set(kOverflow);
  bool holds = false;
  switch (condition >> 1U) {
    case 0:
      holds = is_set(kOverflow);
      break;
    case 1:
      holds = is_set(kCarry);
      break;
    case 2:
      holds = is_set(kZero);
      break;
    case 3:
      holds = is_set(kCarry | kZero);
      break;
    case 4:
      holds = is_set(kSign);
      break;
    case 5:
      holds = is_set(kParity);
      break;
    case 6:
      holds = is_less;
      break;
    default:
      holds = is_less || is_set(kZero);
      break;
  }
  const bool is_negated = (condition & 1U) != 0;
  return holds != is_negated;
}

Sum add(std::uint64_t left, std::uint64_t right, bool carry, unsigned width) {
  const std::uint64_t value = truncate(left + right + (carry ? 1U : 0U), width);
  const std::uint64_t carries = (left & right) | ((left | right) & ~value);
  const std::uint64_t overflows = (left ^ value) & (right ^ value);
  return {value, flags_of_value(value, width) |
                     flag_where((carries & sign_bit(width)) != 0, kCarry) |
                     flag_where((overflows & sign_bit(width)) != 0, kOverflow) |
                     flag_where(((left ^ right ^ value) & 0x10U) != 0, kAdjust)};
}

Sum subtract(std::uint64_t left, std::uint64_t right, bool borrow, unsigned width) {
  const std::uint64_t value = truncate(left - right - (borrow ? 1U : 0U), width);
  const std::uint64_t borrows = (~left & right) | ((~left | right) & value);
  const std::uint64_t overflows = (left ^ right) & (left ^ value);
  return {value, flags_of_value(value, width) |
                     flag_where((borrows & sign_bit(width)) != 0, kCarry) |
                     flag_where((overflows & sign_bit(width)) != 0, kOverflow) |
                     flag_where(((left ^ right ^ value) & 0x10U) != 0, kAdjust)};
}

Sum logic(std::uint64_t result, unsigned width) {
  const std::uint64_t value = truncate(result, width);
  return {value, flags_of_value(value, width)};
}

}  // namespace sp::arch::x86_64
