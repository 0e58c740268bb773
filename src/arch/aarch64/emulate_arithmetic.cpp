#include "arch/aarch64/emulate_step.h"
#include "arch/aarch64/encoding.h"
#include "arch/aarch64/flags.h"

namespace sp::arch::aarch64 {
namespace {

/// add, adds, sub, subs (cmp, cmn) with an immediate; mov to and from sp is an add of 0.
Emulated sum_with_immediate(EmulatedStep& step) {
  const std::uint32_t word = step.word;
  const bool is_wide = field(word, 31, 1) == 1;
  const bool is_subtraction = field(word, 30, 1) == 1;
  const bool sets_flags = field(word, 29, 1) == 1;
  const std::uint64_t shifted = std::uint64_t{field(word, 10, 12)} << (12U * field(word, 22, 1));
  const Sum sum = add(step.x_or_sp(field(word, 5, 5)), is_subtraction ? ~shifted : shifted,
                      is_subtraction, is_wide);
  if (sets_flags) {
    step.registers.pstate = (step.registers.pstate & ~kArithmeticFlags) | sum.flags;
    step.set_x(field(word, 0, 5), sum.value);
  } else {
    step.set_x_or_sp(field(word, 0, 5), sum.value);
  }
  return step.finish();
}

/// movn, movz, movk.
Emulated move_immediate(EmulatedStep& step) {
  const std::uint32_t word = step.word;
  const bool is_wide = field(word, 31, 1) == 1;
  const unsigned operation = field(word, 29, 2);
  const unsigned shift = 16U * field(word, 21, 2);
  if (operation == 1 || (!is_wide && shift >= 32)) {
    return Emulated::not_emulated;
  }
  const unsigned destination = field(word, 0, 5);
  const std::uint64_t immediate = std::uint64_t{field(word, 5, 16)} << shift;
  std::uint64_t value = immediate;
  if (operation == 0) {
    value = ~immediate;
  } else if (operation == 3) {
    value = (step.x(destination) & ~(0xFFFFULL << shift)) | immediate;
  }
  step.set_x(destination, truncate(value, is_wide));
  return step.finish();
}

}  // namespace

Emulated emulate_arithmetic(EmulatedStep& step) {
  const std::uint32_t word = step.word;
  if (is_adr(word)) {
    step.set_x(field(word, 0, 5), adr_value(word, step.registers.pc));
    return step.finish();
  }
  if (matches(word, 0x1F800000U, 0x11000000U)) {
    return sum_with_immediate(step);
  }
  if (matches(word, 0x1F800000U, 0x12800000U)) {
    return move_immediate(step);
  }
  if (matches(word, 0x7FE0FFE0U, 0x2A0003E0U)) {  // mov: orr with the zero register
    const bool is_wide = field(word, 31, 1) == 1;
    step.set_x(field(word, 0, 5), truncate(step.x(field(word, 16, 5)), is_wide));
    return step.finish();
  }
  return Emulated::not_emulated;
}

}  // namespace sp::arch::aarch64
