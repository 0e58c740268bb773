#include "arch/aarch64/symbolic_step.h"

#include <array>

#include "arch/aarch64/symbolic_families.h"
#include "arch/aarch64/symbolic_operands.h"

namespace sp::arch::aarch64 {
namespace {

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
    forget_register(values, rd(word));
  }
}

/// Data processing with immediates (C4.1.65).
void follow_immediate_operation(SymbolicValues& values, std::uint32_t word, core::Address address) {
  if (is_adr(word)) {
    write_register(values, rd(word), 8, SymbolicValues::constant(adr_value(word, address.value())));
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
    forget_register(values, rd(word));
    values.forget_flags();
  } else {
    forget_all(values);
  }
}

}  // namespace sp::arch::aarch64
