#include "arch/aarch64/registers.h"

#include <algorithm>
#include <cstddef>
#include <string>

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

std::vector<core::NamedRegister> named(const Registers& registers) {
  std::vector<core::NamedRegister> all = {
      {"pc", registers.pc}, {"sp", registers.sp}, {"pstate", registers.pstate}};
  for (std::size_t i = 0; i < registers.x.size(); ++i) {
    all.push_back({"x" + std::to_string(i), registers.x.at(i)});
  }
  return all;
}

}  // namespace sp::arch::aarch64
