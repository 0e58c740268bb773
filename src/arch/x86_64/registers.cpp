#include "arch/x86_64/registers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

#include "arch/x86_64/encoding.h"
#include "arch/x86_64/flags.h"

namespace sp::arch::x86_64 {

core::Address pc(const Registers& registers) { return core::Address{registers.rip}; }

core::Address sp(const Registers& registers) { return core::Address{registers.rsp}; }

void set_pc(Registers& registers, core::Address pc) { registers.rip = pc.value(); }

std::uint64_t counter_base(const Registers& registers) { return registers.gs_base; }

void set_counter_base(Registers& registers, std::uint64_t base) { registers.gs_base = base; }

void restore_flags(Registers& registers, std::uint64_t saved) {
  constexpr std::uint64_t kInAh = kArithmeticFlags & ~kOverflow;
  registers.eflags = (registers.eflags & ~kArithmeticFlags) | ((saved >> 8U) & kInAh) |
                     ((saved & 1U) != 0 ? kOverflow : 0);
}

bool uses_counter_segment(const Registers& registers) {
  return registers.gs_base != 0 || registers.gs != 0;
}

namespace {

/// If that byte is a prefix.
bool may_have_rep(std::span<const std::byte> bytes) {
  constexpr auto kRep = std::byte{0xF3};
  return std::find(bytes.begin(), bytes.end(), kRep) != bytes.end();
}

}  // namespace

bool sets_counter_segment(std::span<const std::byte> bytes) {
  constexpr std::uint8_t kGroup15 = 0xAE;
  if (!may_have_rep(bytes)) {
    return false;  // most are: that is quicker
  }
  const auto encoding = read_encoding(bytes);
  return encoding && encoding->map == OpcodeMap::two_byte && encoding->opcode == kGroup15 &&
         encoding->rep && encoding->mod() == 3 &&
         (encoding->extension() == 1 || encoding->extension() == 3);
}

std::optional<core::Address> return_address(const Registers& registers, MemoryAccess& memory) {
  std::array<std::byte, sizeof(std::uint64_t)> word{};
  if (!memory.read(sp(registers), word)) {
    return std::nullopt;
  }
  return core::Address{std::bit_cast<std::uint64_t>(word)};
}

core::DwarfRegisters to_dwarf(const Registers& r) {
  core::DwarfRegisters dwarf;
  // psABI figure 3.36.
  dwarf.values = {r.rax, r.rdx, r.rcx, r.rbx, r.rsi, r.rdi, r.rbp, r.rsp,
                  r.r8,  r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15};
  dwarf.pc = core::Address{r.rip};
  dwarf.sp = core::Address{r.rsp};
  return dwarf;
}

std::vector<core::NamedRegister> named(const Registers& r) {
  return {{"rip", r.rip},
          {"rsp", r.rsp},
          {"rbp", r.rbp},
          {"rax", r.rax},
          {"rbx", r.rbx},
          {"rcx", r.rcx},
          {"rdx", r.rdx},
          {"rsi", r.rsi},
          {"rdi", r.rdi},
          {"r8", r.r8},
          {"r9", r.r9},
          {"r10", r.r10},
          {"r11", r.r11},
          {"r12", r.r12},
          {"r13", r.r13},
          {"r14", r.r14},
          {"r15", r.r15},
          {"eflags", r.eflags},
          {"orig_rax", r.orig_rax},
          {"fs_base", r.fs_base},
          {"gs_base", r.gs_base}};
}

}  // namespace sp::arch::x86_64
