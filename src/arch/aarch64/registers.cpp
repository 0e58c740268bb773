#include "arch/aarch64/registers.h"

#include <algorithm>

namespace sp::arch::aarch64 {

core::Address pc(const Registers& registers) { return core::Address{registers.pc}; }

core::Address sp(const Registers& registers) { return core::Address{registers.sp}; }

void set_pc(Registers& registers, core::Address pc) { registers.pc = pc.value(); }

std::uint64_t counter_base(const Registers& /*registers*/) { return 0; }

void set_counter_base(Registers& /*registers*/, std::uint64_t /*base*/) {}

bool uses_counter_segment(const Registers& /*registers*/) { return false; }

std::optional<core::Address> return_address(const Registers& registers, MemoryAccess& /*memory*/) {
  constexpr unsigned kLink = 30;
  return core::Address{registers.x.at(kLink)};
}

core::DwarfRegisters to_dwarf(const Registers& registers) {
  core::DwarfRegisters dwarf;
  std::ranges::copy(registers.x, dwarf.values.begin());
  dwarf.values[31] = registers.sp;
  dwarf.pc = core::Address{registers.pc};
  dwarf.code_pointer_mask = kCodePointerMask;
  dwarf.sp = core::Address{registers.sp};
  return dwarf;
}

}  // namespace sp::arch::aarch64
