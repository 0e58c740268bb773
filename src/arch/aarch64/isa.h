#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "arch/aarch64/atomic_sequence.h"
#include "arch/aarch64/breakpoint.h"
#include "arch/aarch64/call_values.h"
#include "arch/aarch64/code_pointers.h"
#include "arch/aarch64/decoder.h"
#include "arch/aarch64/emulate.h"
#include "arch/aarch64/jump_table.h"
#include "arch/aarch64/registers.h"
#include "arch/aarch64/relocate.h"
#include "arch/aarch64/single_step.h"
#include "arch/aarch64/sled_event.h"
#include "arch/aarch64/sleds.h"
#include "arch/aarch64/syscall.h"
#include "arch/aarch64/syscall_sites.h"
#include "arch/isa.h"

namespace sp::arch::aarch64 {

/// This CPU as one type: its files' functions under the names of the contract.
struct AArch64 {
  using Registers = aarch64::Registers;

  static constexpr std::string_view kName = "aarch64";
  static constexpr std::uint16_t kElfMachine = EM_AARCH64;
  /// Functions of it can be copied (rewriter/copy_function.h).
  static constexpr bool kHasCopies = true;
  static constexpr unsigned kAddressBits = 48;
  static constexpr std::uint64_t kRedZone = aarch64::kRedZone;
  static constexpr std::uint64_t kPushedByCall = 0;
  static constexpr bool kHasCounterSegment = aarch64::kHasCounterSegment;
  static constexpr std::span<const std::byte> kBreakpoint = aarch64::kBreakpoint;
  static constexpr std::size_t kLongestRelocation = aarch64::kLongestRelocation;
  static constexpr std::uint64_t kJumpReach = aarch64::kJumpReach;
  static constexpr std::size_t kLongestAtomicSequence = aarch64::kLongestAtomicSequence;
  static constexpr std::size_t kLongestRelocatedSequence = aarch64::kLongestRelocatedSequence;

  static core::Address pc(const Registers& registers) { return aarch64::pc(registers); }
  static core::Address sp(const Registers& registers) { return aarch64::sp(registers); }
  static void set_pc(Registers& registers, core::Address pc) { aarch64::set_pc(registers, pc); }
  static void move_sp(Registers& registers, std::int64_t bytes) {
    registers.sp += static_cast<std::uint64_t>(bytes);
  }
  static std::uint64_t& general_register(Registers& registers, unsigned number) {
    return registers.x.at(number);
  }
  static core::DwarfRegisters to_dwarf(const Registers& registers) {
    return aarch64::to_dwarf(registers);
  }
  static std::vector<core::NamedRegister> named(const Registers& registers) {
    return aarch64::named(registers);
  }
  static std::optional<core::Address> return_address(const Registers& registers,
                                                     MemoryAccess& memory) {
    return aarch64::return_address(registers, memory);
  }
  static std::optional<std::uint64_t> argument(const Registers& registers, unsigned number,
                                               MemoryAccess& memory) {
    return aarch64::argument(registers, number, memory);
  }
  static std::uint64_t result(const Registers& registers) { return aarch64::result(registers); }
  static std::optional<double> floating_value(std::span<const std::byte> set, unsigned number) {
    return aarch64::floating_value(set, number);
  }
  static std::uint64_t counter_base(const Registers& registers) {
    return aarch64::counter_base(registers);
  }
  static void set_counter_base(Registers& registers, std::uint64_t base) {
    aarch64::set_counter_base(registers, base);
  }
  static void restore_flags(Registers& registers, std::uint64_t saved) {
    aarch64::restore_flags(registers, saved);
  }
  static bool uses_counter_segment(const Registers& registers) {
    return aarch64::uses_counter_segment(registers);
  }

  static std::string_view syscall_name(int number) { return aarch64::syscall_name(number); }
  static constexpr bool kInterruptedCallIsGuessed = true;
  static std::optional<int> leaving_syscall(const Registers& registers) {
    return aarch64::leaving_syscall(registers);
  }
  static bool returns_eintr(const Registers& registers) {
    return aarch64::returns_eintr(registers);
  }
  static bool will_restart(const Registers& registers) { return aarch64::will_restart(registers); }
  static void restart_call(Registers& registers, std::uint64_t first_argument) {
    aarch64::restart_call(registers, first_argument);
  }
  static bool is_restartable(int number) { return aarch64::is_restartable(number); }
  static std::vector<SyscallSite> find_syscall_sites(std::span<const std::byte> text,
                                                     std::span<const std::string_view> names) {
    return aarch64::find_syscall_sites(text, names);
  }
  static std::optional<SledEvent> sled_event(std::span<const std::byte> before, core::SledKind kind,
                                             const Registers& registers) {
    return aarch64::sled_event(before, kind, registers);
  }
  static SledShape sled_shape(core::SledKind kind, std::uint8_t version) {
    return aarch64::sled_shape(kind, version);
  }
  static SledState sled_state(std::span<const std::byte> bytes, core::SledKind kind,
                              std::uint8_t version) {
    return aarch64::sled_state(bytes, kind, version);
  }
  static std::size_t nop_bytes(std::span<const std::byte> bytes) {
    return aarch64::nop_bytes(bytes);
  }
  static HookCall hook_call(std::span<const std::byte> bytes, core::Address address) {
    return aarch64::hook_call(bytes, address);
  }

  static constexpr bool kStepOutlivesTracer = true;
  static constexpr bool is_breakpoint_code(int code) { return aarch64::is_breakpoint_code(code); }
  static constexpr bool is_step_code(int code) { return aarch64::is_step_code(code); }
  static int trap_code(const siginfo_t& info) { return aarch64::trap_code(info); }
  static core::Address breakpoint_of_trap(core::Address pc) {
    return aarch64::breakpoint_of_trap(pc);
  }
  static std::optional<core::Instruction> decode(std::span<const std::byte> bytes,
                                                 core::Address address) {
    return aarch64::decode(bytes, address);
  }
  static std::vector<std::uint64_t> code_pointers(std::span<const std::byte> bytes,
                                                  core::Address address) {
    return aarch64::code_pointers(bytes, address);
  }
  static std::optional<std::uint64_t> named_memory(std::span<const std::byte> bytes,
                                                   core::Address address) {
    return aarch64::named_memory(bytes, address);
  }
  /// No code of ours changes flags on this CPU.
  static FlagUse flag_use(std::span<const std::byte> /*bytes*/) { return {}; }
  static bool sets_counter_segment(std::span<const std::byte> /*bytes*/) { return false; }
  static std::uint64_t encoding_kind(std::span<const std::byte> bytes) {
    return aarch64::encoding_kind(bytes);
  }
  static JumpOnPath jump_on_path(std::span<const PathInstruction> path,
                                 std::span<const KnownRegister> known) {
    return aarch64::jump_on_path(path, known);
  }
  static RegisterEffect effect_on(const PathInstruction& step, unsigned reg) {
    return aarch64::effect_on(step, reg);
  }
  static std::optional<IndexedOperand> indexed_operand(const PathInstruction& /*step*/) {
    return std::nullopt;
  }

  static bool hide_step(std::span<const std::byte> code, Registers& registers,
                        MemoryAccess& memory) {
    return aarch64::hide_step(code, registers, memory);
  }
  static bool steps_itself(const Registers& registers) { return aarch64::steps_itself(registers); }
  static Emulated emulate(Registers& registers, std::span<const std::byte> code,
                          MemoryAccess& memory) {
    return aarch64::emulate(registers, code, memory);
  }
  static std::optional<std::vector<std::byte>> relocate(std::span<const std::byte> code,
                                                        core::Address from, core::Address to) {
    return aarch64::relocate(code, from, to);
  }
  static std::size_t atomic_sequence_length(std::span<const std::byte> code) {
    return aarch64::atomic_sequence_length(code);
  }
  static std::optional<RelocatedAtomicSequence> relocate_atomic_sequence(
      std::span<const std::byte> code, core::Address from, core::Address to) {
    return aarch64::relocate_atomic_sequence(code, from, to);
  }
};
static_assert(Isa<AArch64>);

}  // namespace sp::arch::aarch64
