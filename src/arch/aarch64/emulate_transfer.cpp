#include "arch/aarch64/emulate_step.h"
#include "arch/aarch64/encoding.h"
#include "arch/aarch64/flags.h"

namespace sp::arch::aarch64 {
namespace {

Emulated jump_where(bool holds, EmulatedStep& step, std::uint64_t offset) {
  return holds ? step.go_to(step.registers.pc + offset) : step.finish();
}

/// The address within a signed pointer of user space: signatures lie above its 48 bits.
std::uint64_t without_signature(std::uint64_t pointer) { return pointer & ((1ULL << 48U) - 1U); }

Emulated register_transfer(EmulatedStep& step) {
  const RegisterBranch kind = register_branch(step.word);
  if (kind == RegisterBranch::other) {
    return Emulated::not_emulated;
  }
  // retaa and retab have no register field: theirs is x30 by definition.
  const bool is_signed = authenticates(step.word);
  const bool is_signed_return = is_signed && kind == RegisterBranch::ret;
  const std::uint64_t pointer = step.x(is_signed_return ? kLinkRegister : field(step.word, 5, 5));
  const std::uint64_t return_address = step.registers.pc + 4;
  const Emulated outcome = step.go_to(is_signed ? without_signature(pointer) : pointer);
  if (outcome == Emulated::done && kind == RegisterBranch::blr) {
    step.set_x(kLinkRegister, return_address);
  }
  return outcome;
}

}  // namespace

Emulated emulate_transfer(EmulatedStep& step) {
  const std::uint32_t word = step.word;
  if (is_b(word)) {
    return jump_where(true, step, offset_26(word));
  }
  if (is_bl(word)) {
    step.set_x(kLinkRegister, step.registers.pc + 4);
    return jump_where(true, step, offset_26(word));
  }
  if (is_b_cond(word)) {
    const bool holds = condition_holds(field(word, 0, 4), step.registers.pstate);
    return jump_where(holds, step, offset_19(word));
  }
  if (is_cbz(word)) {
    const bool is_wide = (word >> 31U) != 0;
    const std::uint64_t value = truncate(step.x(field(word, 0, 5)), is_wide);
    const bool wants_zero = field(word, 24, 1) == 0;
    return jump_where((value == 0) == wants_zero, step, offset_19(word));
  }
  if (is_tbz(word)) {
    const unsigned bit = (field(word, 31, 1) << 5U) | field(word, 19, 5);
    const bool is_clear = ((step.x(field(word, 0, 5)) >> bit) & 1U) == 0;
    const bool wants_clear = field(word, 24, 1) == 0;
    return jump_where(is_clear == wants_clear, step, offset_14(word));
  }
  return is_register_branch(word) ? register_transfer(step) : Emulated::not_emulated;
}

}  // namespace sp::arch::aarch64
