#pragma once

#include <signal.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "arch/atomic_sequence.h"
#include "arch/emulation.h"
#include "arch/flag_use.h"
#include "arch/jump_table.h"
#include "arch/left_code.h"
#include "arch/syscall_site.h"
#include "core/address.h"
#include "core/crash.h"
#include "core/instruction.h"
#include "core/sled.h"
#include "core/stack.h"

namespace sp::arch {

/// The interface that each CPU's folder implements, file by file. Everything is pure: only the
/// supervisor reads and writes a thread's registers and memory.
template <typename T>
concept Isa = requires(const typename T::Registers& registers,
                       typename T::Registers& mutable_registers, std::span<const std::byte> bytes,
                       core::Address address, std::uint64_t word, int number,
                       std::span<const PathInstruction> path, std::span<const KnownRegister> known,
                       MemoryAccess& memory, std::span<const std::string_view> names) {
  // registers.h: what PTRACE_GETREGSET NT_PRSTATUS fills, byte for byte.
  { T::kName } -> std::convertible_to<std::string_view>;  // "x86_64", "aarch64"
  { T::kElfMachine } -> std::convertible_to<std::uint16_t>;
  // Functions can be copied: the CPU's copying.h.
  { T::kHasCopies } -> std::convertible_to<bool>;
  // User code has addresses below 2 to the power of this.
  { T::kAddressBits } -> std::convertible_to<unsigned>;
  { T::pc(registers) } -> std::same_as<core::Address>;
  { T::sp(registers) } -> std::same_as<core::Address>;
  T::set_pc(mutable_registers, address);
  T::move_sp(mutable_registers, std::int64_t{});
  // The general register with this number in instructions.
  { T::general_register(mutable_registers, unsigned{}) } -> std::same_as<std::uint64_t&>;
  { T::to_dwarf(registers) } -> std::same_as<core::DwarfRegisters>;
  // Those that a user reads, by their names.
  { T::named(registers) } -> std::same_as<std::vector<core::NamedRegister>>;
  // Where a call returns to whose function is about to execute its first instruction.
  { T::return_address(registers, memory) } -> std::same_as<std::optional<core::Address>>;
  // call_values.h: what a function gets and returns, by number from 0.
  { T::argument(registers, unsigned{}, memory) } -> std::same_as<std::optional<std::uint64_t>>;
  { T::result(registers) } -> std::same_as<std::uint64_t>;
  { T::floating_value(bytes, unsigned{}) } -> std::same_as<std::optional<double>>;
  // Bytes below sp that a leaf function may use (128 on x86-64, 0 on AArch64).
  { T::kRedZone } -> std::convertible_to<std::uint64_t>;
  // Bytes that a call pushes: by so much sp is lower at a function's entry than behind its call.
  { T::kPushedByCall } -> std::convertible_to<std::uint64_t>;
  // The base of the segment through which copied code addresses its thread's counters, transfers
  // and events; false: the CPU has none. Then the base is always 0, all threads share the counters,
  // and copies note neither transfers nor events.
  { T::kHasCounterSegment } -> std::convertible_to<bool>;
  { T::counter_base(registers) } -> std::same_as<std::uint64_t>;
  T::set_counter_base(mutable_registers, word);
  T::restore_flags(mutable_registers, word);
  { T::uses_counter_segment(registers) } -> std::same_as<bool>;

  // syscall.h
  { T::syscall_name(number) } -> std::same_as<std::string_view>;  // "" if it is not known
  // The number of the system call that the thread is returning from; nothing if user code was
  // stopped.
  { T::leaving_syscall(registers) } -> std::same_as<std::optional<int>>;
  // True if that is a guess: after a stop neither the registers nor the kernel tell whether a
  // thread is returning from a call, and which first argument the call had.
  { T::kInterruptedCallIsGuessed } -> std::convertible_to<bool>;
  // That call is about to return -EINTR itself (the kernel will not restart it).
  { T::returns_eintr(registers) } -> std::same_as<bool>;
  // That call was interrupted and the kernel will restart it by itself (-ERESTART*).
  { T::will_restart(registers) } -> std::same_as<bool>;
  // Makes the thread repeat that call when it continues from its stop. `word` is the call's first
  // argument, for CPUs whose result register overwrites it.
  T::restart_call(mutable_registers, word);
  // Repeating this call after -EINTR has the same effect as a call that was never interrupted.
  { T::is_restartable(number) } -> std::same_as<bool>;

  // syscall_sites.h: where code makes one of those system calls.
  { T::find_syscall_sites(bytes, names) } -> std::same_as<std::vector<SyscallSite>>;

  // sleds.h: the code at places that a compiler left for instrumentation.
  { T::sled_shape(core::SledKind{}, std::uint8_t{}) } -> std::same_as<SledShape>;
  { T::sled_state(bytes, core::SledKind{}, std::uint8_t{}) } -> std::same_as<SledState>;
  { T::sled_event(bytes, core::SledKind{}, registers) } -> std::same_as<std::optional<SledEvent>>;
  { T::nop_bytes(bytes) } -> std::same_as<std::size_t>;
  { T::hook_call(bytes, address) } -> std::same_as<HookCall>;

  // breakpoint.h
  { T::kBreakpoint } -> std::convertible_to<std::span<const std::byte>>;
  // The breakpoint's address, from the pc that its trap reports.
  { T::breakpoint_of_trap(address) } -> std::same_as<core::Address>;
  // si_codes of SIGTRAP for a breakpoint, and for the end of a single step.
  { T::is_breakpoint_code(int{}) } -> std::same_as<bool>;
  { T::is_step_code(int{}) } -> std::same_as<bool>;
  // What a SIGTRAP's si_code means, for these two.
  { T::trap_code(siginfo_t{}) } -> std::same_as<int>;

  // decoder.h: the instruction at `address` from its bytes; nothing if they do not decode.
  { T::decode(bytes, address) } -> std::same_as<std::optional<core::Instruction>>;
  // Values that an instruction makes without reading memory, maybe with others behind it, and that
  // may be addresses of code.
  { T::code_pointers(bytes, address) } -> std::same_as<std::vector<std::uint64_t>>;
  // The address of the memory that an instruction names relative to itself, maybe with others.
  { T::named_memory(bytes, address) } -> std::same_as<std::optional<std::uint64_t>>;
  // Of one instruction. Flags that matter where copies count.
  { T::flag_use(bytes) } -> std::same_as<FlagUse>;
  // It sets the base of the segment in which copies count.
  { T::sets_counter_segment(bytes) } -> std::same_as<bool>;
  // Its bytes without operands: equal for instructions of the same kind.
  { T::encoding_kind(bytes) } -> std::same_as<std::uint64_t>;

  // jump_table.h: the jump table that the path to an indirect jump reads.
  { T::jump_on_path(path, known) } -> std::same_as<JumpOnPath>;
  // What the instruction does to the register of that number; for a call, until it returns.
  { T::effect_on(path.front(), unsigned{}) } -> std::same_as<RegisterEffect>;

  // Its operand, if it has such a one in memory; nothing where copies have no tables of their own.
  { T::indexed_operand(path.front()) } -> std::same_as<std::optional<IndexedOperand>>;

  // emulate.h: executes the instruction at pc (its bytes, maybe more) in the tracer.
  { T::emulate(mutable_registers, bytes, memory) } -> std::same_as<Emulated>;

  // True if a thread goes on being single-stepped when its tracer dies, into signal handlers too.
  { T::kStepOutlivesTracer } -> std::convertible_to<bool>;
  // single_step.h: removes the traces of a single step over the instruction that was just executed
  // (its bytes); true if registers were changed.
  { T::hide_step(bytes, mutable_registers, memory) } -> std::same_as<bool>;
  { T::steps_itself(registers) } -> std::same_as<bool>;

  // relocate.h: code for the second address that has the effect of the instruction at the first one
  // and continues where that would have continued; nothing if it cannot run elsewhere.
  { T::relocate(bytes, address, address) } -> std::same_as<std::optional<std::vector<std::byte>>>;
  { T::kLongestRelocation } -> std::convertible_to<std::size_t>;
  // Every jump from there reaches targets within so many bytes, in both directions.
  { T::kJumpReach } -> std::convertible_to<std::uint64_t>;

  // atomic_sequence.h: load-exclusive to store-exclusive, within which no thread may be stopped;
  // sizes are 0 on CPUs without such sequences.
  { T::kLongestAtomicSequence } -> std::convertible_to<std::size_t>;
  { T::kLongestRelocatedSequence } -> std::convertible_to<std::size_t>;
  { T::atomic_sequence_length(bytes) } -> std::same_as<std::size_t>;
  {
    T::relocate_atomic_sequence(bytes, address, address)
    } -> std::same_as<std::optional<RelocatedAtomicSequence>>;
};

}  // namespace sp::arch
