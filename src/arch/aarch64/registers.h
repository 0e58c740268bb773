#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "arch/emulation.h"
#include "core/address.h"
#include "core/crash.h"
#include "core/stack.h"

namespace sp::arch::aarch64 {

/// The kernel's user_pt_regs: what PTRACE_GETREGSET NT_PRSTATUS fills.
struct Registers {
  std::array<std::uint64_t, 31> x = {};  // x29 is the frame pointer, x30 the link register
  std::uint64_t sp = 0;
  std::uint64_t pc = 0;
  std::uint64_t pstate = 0;

  bool operator==(const Registers&) const = default;
};
static_assert(sizeof(Registers) == 34 * sizeof(std::uint64_t));

/// AAPCS64 section 6.4.5.1: there is no red zone.
inline constexpr std::uint64_t kRedZone = 0;

[[nodiscard]] core::Address pc(const Registers& registers);
[[nodiscard]] core::Address sp(const Registers& registers);
void set_pc(Registers& registers, core::Address pc);
/// A signature in a code pointer may be in any of the bits above those of an address.
inline constexpr std::uint64_t kCodePointerMask = ~std::uint64_t{0} << 48U;
/// At a function's first instruction.
[[nodiscard]] std::optional<core::Address> return_address(const Registers& registers,
                                                          MemoryAccess& memory);
[[nodiscard]] core::DwarfRegisters to_dwarf(const Registers& registers);
[[nodiscard]] std::vector<core::NamedRegister> named(const Registers& registers);

/// There is no register to address a thread's counters with that programs leave alone.
inline constexpr bool kHasCounterSegment = false;
[[nodiscard]] std::uint64_t counter_base(const Registers& registers);
void set_counter_base(Registers& registers, std::uint64_t base);
/// No code of ours saves flags on this CPU.
inline void restore_flags(Registers& /*registers*/, std::uint64_t /*saved*/) {}
[[nodiscard]] bool uses_counter_segment(const Registers& registers);

}  // namespace sp::arch::aarch64
