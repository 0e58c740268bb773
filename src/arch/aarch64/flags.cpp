#include "arch/aarch64/flags.h"

namespace sp::arch::aarch64 {
namespace {

std::uint64_t flag_where(bool holds, std::uint64_t flag) { return holds ? flag : 0; }

}  // namespace

std::uint64_t truncate(std::uint64_t value, bool is_wide) {
  return is_wide ? value : value & 0xFFFFFFFFU;
}

bool condition_holds(unsigned condition, std::uint64_t pstate) {
  const auto is_set = [pstate](std::uint64_t flag) { return (pstate & flag) != 0; };
  const bool is_at_least = is_set(kNegative) == is_set(kOverflow);
  bool holds = false;
  switch (condition >> 1U) {
    case 0:
      holds = is_set(kZero);
      break;
    case 1:
      holds = is_set(kCarry);
      break;
    case 2:
      holds = is_set(kNegative);
      break;
    case 3:
      holds = is_set(kOverflow);
      break;
    case 4:
      holds = is_set(kCarry) && !is_set(kZero);
      break;
    case 5:
      holds = is_at_least;
      break;
    case 6:
      holds = is_at_least && !is_set(kZero);
      break;
    default:
      return true;  // al, nv
  }
  const bool is_negated = (condition & 1U) != 0;
  return holds != is_negated;
}

Sum add(std::uint64_t left, std::uint64_t right, bool carry, bool is_wide) {
  const std::uint64_t a = truncate(left, is_wide);
  const std::uint64_t b = truncate(right, is_wide);
  const std::uint64_t value = truncate(a + b + (carry ? 1U : 0U), is_wide);
  const std::uint64_t sign = is_wide ? 1ULL << 63U : 1ULL << 31U;
  const std::uint64_t carries = (a & b) | ((a | b) & ~value);
  const std::uint64_t overflows = (a ^ value) & (b ^ value);
  return {value, flag_where((value & sign) != 0, kNegative) | flag_where(value == 0, kZero) |
                     flag_where((carries & sign) != 0, kCarry) |
                     flag_where((overflows & sign) != 0, kOverflow)};
}

}  // namespace sp::arch::aarch64
