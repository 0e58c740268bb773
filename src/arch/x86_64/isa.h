#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "arch/isa.h"
#include "arch/x86_64/atomic_sequence.h"
#include "arch/x86_64/breakpoint.h"
#include "arch/x86_64/call_values.h"
#include "arch/x86_64/code_pointers.h"
#include "arch/x86_64/decoder.h"
#include "arch/x86_64/emulate.h"
#include "arch/x86_64/flag_effects.h"
#include "arch/x86_64/jump_table.h"
#include "arch/x86_64/operands.h"
#include "arch/x86_64/registers.h"
#include "arch/x86_64/relocate.h"
#include "arch/x86_64/single_step.h"
#include "arch/x86_64/sled_event.h"
#include "arch/x86_64/sleds.h"
#include "arch/x86_64/syscall.h"
#include "arch/x86_64/syscall_sites.h"
#include "arch/x86_64/table_jump.h"

namespace sp::arch::x86_64 {

/// This CPU as one type: its files' functions under the names of the contract.
struct X86_64 {
  using Registers = x86_64::Registers;

  static constexpr std::string_view kName = "x86_64";
  static constexpr std::uint16_t kElfMachine = EM_X86_64;
  /// Functions of it can be copied (rewriter/copy_function.h).
  static constexpr bool kHasCopies = true;
  static constexpr unsigned kAddressBits = 47;
  static constexpr std::uint64_t kRedZone = x86_64::kRedZone;
  static constexpr std::uint64_t kPushedByCall = 8;
  static constexpr bool kHasCounterSegment = x86_64::kHasCounterSegment;
  static constexpr std::span<const std::byte> kBreakpoint = x86_64::kBreakpoint;
  static constexpr std::size_t kLongestRelocation = x86_64::kLongestRelocation;
  static constexpr std::uint64_t kJumpReach = x86_64::kJumpReach;
  static constexpr std::size_t kLongestAtomicSequence = x86_64::kLongestAtomicSequence;
  static constexpr std::size_t kLongestRelocatedSequence = x86_64::kLongestRelocatedSequence;

  static core::Address pc(const Registers& registers) { return x86_64::pc(registers); }
  static core::Address sp(const Registers& registers) { return x86_64::sp(registers); }
  static void set_pc(Registers& registers, core::Address pc) { x86_64::set_pc(registers, pc); }
  static void move_sp(Registers& registers, std::int64_t bytes) {
    registers.rsp += static_cast<std::uint64_t>(bytes);
  }
  static std::uint64_t& general_register(Registers& registers, unsigned number) {
    return x86_64::general_register(registers, number);
  }
  static core::DwarfRegisters to_dwarf(const Registers& registers) {
    return x86_64::to_dwarf(registers);
  }
  static std::vector<core::NamedRegister> named(const Registers& registers) {
    return x86_64::named(registers);
  }
  static std::optional<core::Address> return_address(const Registers& registers,
                                                     MemoryAccess& memory) {
    return x86_64::return_address(registers, memory);
  }
  static std::optional<std::uint64_t> argument(const Registers& registers, unsigned number,
                                               MemoryAccess& memory) {
    return x86_64::argument(registers, number, memory);
  }
  static std::uint64_t result(const Registers& registers) { return x86_64::result(registers); }
  static std::optional<double> floating_value(std::span<const std::byte> set, unsigned number) {
    return x86_64::floating_value(set, number);
  }
  static std::uint64_t counter_base(const Registers& registers) {
    return x86_64::counter_base(registers);
  }
  static void set_counter_base(Registers& registers, std::uint64_t base) {
    x86_64::set_counter_base(registers, base);
  }
  static void restore_flags(Registers& registers, std::uint64_t saved) {
    x86_64::restore_flags(registers, saved);
  }
  static bool uses_counter_segment(const Registers& registers) {
    return x86_64::uses_counter_segment(registers);
  }

  static std::string_view syscall_name(int number) { return x86_64::syscall_name(number); }
  static constexpr bool kInterruptedCallIsGuessed = false;
  static std::optional<int> leaving_syscall(const Registers& registers) {
    return x86_64::leaving_syscall(registers);
  }
  static bool returns_eintr(const Registers& registers) { return x86_64::returns_eintr(registers); }
  static bool will_restart(const Registers& registers) { return x86_64::will_restart(registers); }
  static void restart_call(Registers& registers, std::uint64_t first_argument) {
    x86_64::restart_call(registers, first_argument);
  }
  static bool is_restartable(int number) { return x86_64::is_restartable(number); }
  static std::vector<SyscallSite> find_syscall_sites(std::span<const std::byte> text,
                                                     std::span<const std::string_view> names) {
    return x86_64::find_syscall_sites(text, names);
  }
  static std::optional<SledEvent> sled_event(std::span<const std::byte> before, core::SledKind kind,
                                             const Registers& registers) {
    return x86_64::sled_event(before, kind, registers);
  }
  static SledShape sled_shape(core::SledKind kind, std::uint8_t version) {
    return x86_64::sled_shape(kind, version);
  }
  static SledState sled_state(std::span<const std::byte> bytes, core::SledKind kind,
                              std::uint8_t version) {
    return x86_64::sled_state(bytes, kind, version);
  }
  static std::size_t nop_bytes(std::span<const std::byte> bytes) {
    return x86_64::nop_bytes(bytes);
  }
  static HookCall hook_call(std::span<const std::byte> bytes, core::Address address) {
    return x86_64::hook_call(bytes, address);
  }

  static constexpr bool kStepOutlivesTracer = false;
  static constexpr bool is_breakpoint_code(int code) { return x86_64::is_breakpoint_code(code); }
  static constexpr bool is_step_code(int code) { return x86_64::is_step_code(code); }
  static int trap_code(const siginfo_t& info) { return x86_64::trap_code(info); }
  static core::Address breakpoint_of_trap(core::Address pc) {
    return x86_64::breakpoint_of_trap(pc);
  }
  static std::optional<core::Instruction> decode(std::span<const std::byte> bytes,
                                                 core::Address address) {
    return x86_64::decode(bytes, address);
  }
  static std::vector<std::uint64_t> code_pointers(std::span<const std::byte> bytes,
                                                  core::Address address) {
    return x86_64::code_pointers(bytes, address);
  }
  static std::optional<std::uint64_t> named_memory(std::span<const std::byte> bytes,
                                                   core::Address address) {
    return x86_64::named_memory(bytes, address);
  }
  static FlagUse flag_use(std::span<const std::byte> bytes) { return x86_64::flag_use(bytes); }
  static bool sets_counter_segment(std::span<const std::byte> bytes) {
    return x86_64::sets_counter_segment(bytes);
  }
  static std::uint64_t encoding_kind(std::span<const std::byte> bytes) {
    return x86_64::encoding_kind(bytes);
  }
  static JumpOnPath jump_on_path(std::span<const PathInstruction> path,
                                 std::span<const KnownRegister> known) {
    return x86_64::jump_on_path(path, known);
  }
  static RegisterEffect effect_on(const PathInstruction& step, unsigned reg) {
    return x86_64::effect_on(step, reg);
  }
  static std::optional<IndexedOperand> indexed_operand(const PathInstruction& step) {
    return x86_64::indexed_operand(step.bytes);
  }

  static bool hide_step(std::span<const std::byte> code, Registers& registers,
                        MemoryAccess& memory) {
    return x86_64::hide_step(code, registers, memory);
  }
  static bool steps_itself(const Registers& registers) { return x86_64::steps_itself(registers); }
  static Emulated emulate(Registers& registers, std::span<const std::byte> code,
                          MemoryAccess& memory) {
    return x86_64::emulate(registers, code, memory);
  }
  static std::optional<std::vector<std::byte>> relocate(std::span<const std::byte> code,
                                                        core::Address from, core::Address to) {
    return x86_64::relocate(code, from, to);
  }
  static std::size_t atomic_sequence_length(std::span<const std::byte> code) {
    return x86_64::atomic_sequence_length(code);
  }
  static std::optional<RelocatedAtomicSequence> relocate_atomic_sequence(
      std::span<const std::byte> code, core::Address from, core::Address to) {
    return x86_64::relocate_atomic_sequence(code, from, to);
  }
};
static_assert(Isa<X86_64>);

}  // namespace sp::arch::x86_64
