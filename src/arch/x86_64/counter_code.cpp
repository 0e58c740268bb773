#include "arch/x86_64/counter_code.h"

namespace sp::arch::x86_64 {
namespace {

constexpr unsigned kSibOfAddress = 0x25;  // neither base nor index: a sign-extended displacement

unsigned low_bits(unsigned reg) { return reg & 7U; }
unsigned rex_b(unsigned reg) { return reg >> 3U; }

/// `opcode` with reg and gs:[offset].
MovedInstruction counter_access(unsigned opcode, unsigned reg, std::uint64_t offset) {
  MovedInstruction access;
  access.append(
      {0x65, 0x48U | (rex_b(reg) << 2U), opcode, (low_bits(reg) << 3U) | 4U, kSibOfAddress});
  access.append_number(offset, 4);
  return access;
}

}  // namespace

MovedInstruction increment_counter(std::uint64_t offset) {
  return counter_access(0xFF, 0, offset);  // FF /0
}

std::array<MovedInstruction, 3> count_in_register(std::uint64_t offset, unsigned reg) {
  MovedInstruction increment;
  const unsigned extended = rex_b(reg);
  const unsigned low = low_bits(reg);
  increment.append({0x48U | (extended << 2U) | extended, 0x8D, 0x40U | (low << 3U) | low});
  if (low == 4) {
    increment.append({0x24});  // r12 as a base needs a SIB byte
  }
  increment.append({1});
  return {counter_access(0x8B, reg, offset), increment, counter_access(0x89, reg, offset)};
}

MovedInstruction skip_red_zone() {
  MovedInstruction lea;
  lea.append({0x48, 0x8D, 0x64, 0x24, 0x80});
  return lea;
}

MovedInstruction return_to_red_zone() {
  MovedInstruction lea;
  lea.append({0x48, 0x8D, 0xA4, 0x24, 0x80, 0, 0, 0});
  return lea;
}

MovedInstruction push_register(unsigned reg) {
  MovedInstruction push;
  if (rex_b(reg) != 0) {
    push.append({0x41});
  }
  push.append({0x50U | low_bits(reg)});
  return push;
}

MovedInstruction pop_register(unsigned reg) {
  MovedInstruction pop;
  if (rex_b(reg) != 0) {
    pop.append({0x41});
  }
  pop.append({0x58U | low_bits(reg)});
  return pop;
}

MovedInstruction long_nop() {
  MovedInstruction nop;
  nop.append({0x0F, 0x1F, 0x44, 0x00, 0x00});
  return nop;
}

}  // namespace sp::arch::x86_64
