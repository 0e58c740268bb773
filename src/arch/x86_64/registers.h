#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arch/emulation.h"
#include "core/address.h"
#include "core/crash.h"
#include "core/stack.h"

namespace sp::arch::x86_64 {

/// The kernel's user_regs_struct: what PTRACE_GETREGSET NT_PRSTATUS fills for a 64-bit tracee.
struct Registers {
  std::uint64_t r15 = 0;
  std::uint64_t r14 = 0;
  std::uint64_t r13 = 0;
  std::uint64_t r12 = 0;
  std::uint64_t rbp = 0;
  std::uint64_t rbx = 0;
  std::uint64_t r11 = 0;
  std::uint64_t r10 = 0;
  std::uint64_t r9 = 0;
  std::uint64_t r8 = 0;
  std::uint64_t rax = 0;
  std::uint64_t rcx = 0;
  std::uint64_t rdx = 0;
  std::uint64_t rsi = 0;
  std::uint64_t rdi = 0;
  std::uint64_t orig_rax = 0;
  std::uint64_t rip = 0;
  std::uint64_t cs = 0;
  std::uint64_t eflags = 0;
  std::uint64_t rsp = 0;
  std::uint64_t ss = 0;
  std::uint64_t fs_base = 0;
  std::uint64_t gs_base = 0;
  std::uint64_t ds = 0;
  std::uint64_t es = 0;
  std::uint64_t fs = 0;
  std::uint64_t gs = 0;

  bool operator==(const Registers&) const = default;
};
static_assert(sizeof(Registers) == 27 * sizeof(std::uint64_t));

/// psABI section 3.2.2: a function may use this much below rsp without moving it.
inline constexpr std::uint64_t kRedZone = 128;

[[nodiscard]] core::Address pc(const Registers& registers);
[[nodiscard]] core::Address sp(const Registers& registers);
void set_pc(Registers& registers, core::Address pc);
/// At a function's first instruction.
[[nodiscard]] std::optional<core::Address> return_address(const Registers& registers,
                                                          MemoryAccess& memory);
[[nodiscard]] core::DwarfRegisters to_dwarf(const Registers& registers);
[[nodiscard]] std::vector<core::NamedRegister> named(const Registers& registers);

/// Counters of copied code are addressed through gs, which 64-bit Linux leaves to programs. The
/// base survives system calls, signal handlers and their return; a new thread and a forked child
/// begin with their creator's, a new program with 0.
inline constexpr bool kHasCounterSegment = true;
[[nodiscard]] std::uint64_t counter_base(const Registers& registers);
void set_counter_base(Registers& registers, std::uint64_t base);
/// The arithmetic flags, as lahf and then seto al have saved them in rax.
void restore_flags(Registers& registers, std::uint64_t saved);
/// The program, or somebody else, uses the segment.
[[nodiscard]] bool uses_counter_segment(const Registers& registers);
/// The instruction is wrgsbase or rdgsbase. Not those that name gs as a selector: what is data in
/// code looks like them too often.
[[nodiscard]] bool sets_counter_segment(std::span<const std::byte> bytes);

}  // namespace sp::arch::x86_64
