#include "arch/aarch64/emulate.h"

#include <optional>

#include "arch/aarch64/emulate_step.h"
#include "arch/aarch64/encoding.h"

namespace sp::arch::aarch64 {
namespace {

constexpr unsigned kRegister31 = 31;                // zero or sp, depending on the instruction
constexpr std::uint64_t kBranchType = 3ULL << 10U;  // PSTATE.BTYPE

Emulated emulate_step(EmulatedStep& step) {
  const Emulated transferred = emulate_transfer(step);
  if (transferred != Emulated::not_emulated || is_register_branch(step.word)) {
    return transferred;
  }
  const Emulated computed = emulate_arithmetic(step);
  return computed == Emulated::not_emulated ? emulate_data(step) : computed;
}

}  // namespace

std::uint64_t EmulatedStep::x(unsigned number) const {
  return number == kRegister31 ? 0 : registers.x[number];
}

void EmulatedStep::set_x(unsigned number, std::uint64_t value) {
  if (number != kRegister31) {
    registers.x[number] = value;
  }
}

std::uint64_t EmulatedStep::x_or_sp(unsigned number) const {
  return number == kRegister31 ? registers.sp : registers.x[number];
}

void EmulatedStep::set_x_or_sp(unsigned number, std::uint64_t value) {
  (number == kRegister31 ? registers.sp : registers.x[number]) = value;
}

Emulated EmulatedStep::finish() {
  registers.pc += 4;
  return Emulated::done;
}

Emulated EmulatedStep::go_to(std::uint64_t target) {
  constexpr std::uint64_t kEndOfUserSpace = 1ULL << 48U;
  if (target >= kEndOfUserSpace || target % 4 != 0) {
    return Emulated::not_emulated;
  }
  registers.pc = target;
  return Emulated::done;
}

Emulated emulate(Registers& registers, std::span<const std::byte> code, MemoryAccess& memory) {
  const std::optional<std::uint32_t> word = read_word(code);
  if (!word) {
    return Emulated::not_emulated;
  }
  EmulatedStep step{registers, *word, memory};
  // Every instruction but an indirect branch clears BTYPE. An emulated indirect branch clears it
  // too, so its target is not checked for a landing pad.
  step.registers.pstate &= ~kBranchType;
  const Emulated outcome = emulate_step(step);
  if (outcome == Emulated::done) {
    registers = step.registers;
  }
  return outcome;
}

}  // namespace sp::arch::aarch64
