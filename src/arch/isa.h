#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "arch/emulation.h"
#include "arch/atomic_sequence.h"
#include "arch/jump_table.h"
#include "core/address.h"
#include "core/instruction.h"
#include "core/stack.h"

namespace sp::arch {

/// The contract that each CPU's folder meets, file by file. Everything is pure: values in, values
/// out; who reads and writes a thread's registers or memory is the supervisor.
template <typename T>
concept Isa = requires(const typename T::Registers& registers,
                       typename T::Registers& mutable_registers, std::span<const std::byte> bytes,
                       core::Address address, std::uint64_t word, int number,
                       std::span<const PathInstruction> path, std::span<const KnownRegister> known,
                       MemoryAccess& memory) {
  // registers.h: what PTRACE_GETREGSET NT_PRSTATUS fills, byte for byte.
  { T::kName } -> std::convertible_to<std::string_view>;  // "x86_64", "aarch64"
  { T::kElfMachine } -> std::convertible_to<std::uint16_t>;
  { T::pc(registers) } -> std::same_as<core::Address>;
  { T::sp(registers) } -> std::same_as<core::Address>;
  T::set_pc(mutable_registers, address);
  { T::to_dwarf(registers) } -> std::same_as<core::DwarfRegisters>;
  // Bytes below sp that a leaf function may use (128 on x86-64, 0 on AArch64).
  { T::kRedZone } -> std::convertible_to<std::uint64_t>;

  // syscall.h
  { T::syscall_name(number) } -> std::same_as<std::string_view>;  // "" where it is not known
  // The stop is on the way out of a system call: its number. Nothing where user code was stopped.
  { T::leaving_syscall(registers) } -> std::same_as<std::optional<int>>;
  // Where true, that is a guess: neither the registers nor the kernel say behind a stop whether a
  // thread comes out of a call, and with what that was made.
  { T::kInterruptedCallIsGuessed } -> std::convertible_to<bool>;
  // That call is about to return -EINTR itself (the kernel will not restart it).
  { T::returns_eintr(registers) } -> std::same_as<bool>;
  // That call was asleep and the kernel will restart it by itself (-ERESTART*).
  { T::will_restart(registers) } -> std::same_as<bool>;
  // The thread makes that call again when it goes on from its stop, as if it had not been made;
  // `word` is its first argument, for CPUs whose result register overwrites it.
  T::restart_call(mutable_registers, word);
  // Re-executing this call after -EINTR means the same as never having been interrupted.
  { T::is_restartable(number) } -> std::same_as<bool>;

  // breakpoint.h
  { T::kBreakpoint } -> std::convertible_to<std::span<const std::byte>>;
  // Where the breakpoint stands, from the pc that its trap reports.
  { T::breakpoint_of_trap(address) } -> std::same_as<core::Address>;
  // si_codes of SIGTRAP: a breakpoint's, and those that end a single step.
  { T::is_breakpoint_code(int{}) } -> std::same_as<bool>;
  { T::is_step_code(int{}) } -> std::same_as<bool>;

  // decoder.h: one instruction at `address` from its bytes; nothing where they are not one.
  { T::decode(bytes, address) } -> std::same_as<std::optional<core::Instruction>>;
  // Its bytes without what differs between two of the same kind.
  { T::encoding_kind(bytes) } -> std::same_as<std::uint64_t>;

  // jump_table.h: what the straight code before an indirect jump says of where it goes.
  { T::jump_on_path(path, known) } -> std::same_as<JumpOnPath>;
  // What the instruction leaves in the register of that number. A call: when it comes back.
  { T::effect_on(path.front(), unsigned{}) } -> std::same_as<RegisterEffect>;

  // emulate.h: does the instruction at pc (its bytes, maybe more) in the tracer.
  { T::emulate(mutable_registers, bytes, memory) } -> std::same_as<Emulated>;

  // single_step.h: undoes what is left of a step over the instruction that was just done (its
  // bytes); true where registers were changed.
  { T::hide_step(bytes, mutable_registers, memory) } -> std::same_as<bool>;
  { T::steps_itself(registers) } -> std::same_as<bool>;

  // relocate.h: code for the second address that does what the instruction at the first one does
  // there and goes on where that would have gone; nothing where it cannot run elsewhere.
  { T::relocate(bytes, address, address) } -> std::same_as<std::optional<std::vector<std::byte>>>;
  { T::kLongestRelocation } -> std::convertible_to<std::size_t>;
  // Bytes from there in which a jump reaches its target for certain, both ways.
  { T::kJumpReach } -> std::convertible_to<std::uint64_t>;

  // exclusive.h: what must not be stopped within, for those CPUs that have such; 0 on others.
  { T::kLongestAtomicSequence } -> std::convertible_to<std::size_t>;
  { T::kLongestRelocatedSequence } -> std::convertible_to<std::size_t>;
  { T::atomic_sequence_length(bytes) } -> std::same_as<std::size_t>;
  { T::relocate_atomic_sequence(bytes, address, address) } -> std::same_as<std::optional<RelocatedAtomicSequence>>;
};

}  // namespace sp::arch
