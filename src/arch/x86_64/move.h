#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>

#include "arch/x86_64/encoding.h"
#include "core/address.h"
#include "core/function_copy.h"
#include "core/instruction.h"

namespace sp::arch::x86_64 {

/// One instruction where the program has it.
struct SourceInstruction {
  std::span<const std::byte> code;  // its own bytes
  Encoding encoding;
  core::Instruction instruction;

  /// Legacy prefixes and REX.
  [[nodiscard]] std::span<const std::byte> prefixes() const {
    return code.first(encoding.opcode_offset);
  }
};
/// Of the first instruction of `bytes`; nothing if decode() has nothing.
[[nodiscard]] std::optional<SourceInstruction> read_instruction(std::span<const std::byte> bytes,
                                                                core::Address address);

/// An instruction that is placed later: place() fills in the displacement, if it has one, that
/// leads from its end to `target`.
struct MovedInstruction {
  std::array<std::byte, kLongestInstruction> bytes{};
  std::uint8_t size = 0;
  std::uint8_t field = 0;       // where the displacement is
  std::uint8_t field_size = 0;  // 0 (there is none), 1 or 4
  core::Address target;

  void append(std::initializer_list<unsigned> values);
  void append(std::span<const std::byte> values);
  void append_number(std::uint64_t value, unsigned number_size);
  void append_displacement(std::uint8_t displacement_size, core::Address to);
  [[nodiscard]] std::span<const std::byte> code() const {
    return std::span<const std::byte>(bytes).first(size);
  }
};

/// False if the displacement does not reach from `at`.
[[nodiscard]] bool place(MovedInstruction& moved, core::Address at);
/// True if a displacement of `size` bytes leads from `end` to `target`.
[[nodiscard]] bool reaches(core::Address end, core::Address target, unsigned size);

/// Why a copy of a function cannot have the instruction, not even left in the original.
[[nodiscard]] std::optional<core::CopyRefusal> refuse_move(const SourceInstruction& source);

/// nop in all its lengths, and int3.
[[nodiscard]] bool is_padding(const Encoding& encoding);

/// The instruction with its rip-relative displacement to be corrected: for all that does not jump,
/// call or enter the kernel by a displacement of its own. Nothing if it is relative to eip.
[[nodiscard]] std::optional<MovedInstruction> move_unchanged(const SourceInstruction& source);

/// A direct jump or conditional jump (jcc) with a displacement of one byte, and its prefixes,
/// because some CPUs obey prefixes that others ignore. Nothing if is_loop(), or where widen() would
/// exceed the longest instruction.
[[nodiscard]] std::optional<MovedInstruction> move_short_jump(const SourceInstruction& source,
                                                              core::Address target);
/// Makes the displacement of such a jump one of four bytes.
void widen(MovedInstruction& jump);
/// jrcxz, jecxz, loop, loope and loopne, which have short forms only.
[[nodiscard]] bool is_loop(const SourceInstruction& source);
/// One of these, to a place `distance` bytes behind it.
[[nodiscard]] MovedInstruction move_loop(const SourceInstruction& source, std::uint8_t distance);

/// jmp rel8; widen() makes it jmp rel32.
[[nodiscard]] MovedInstruction jump_to(core::Address target);

/// A call's effect on the stack, in one or two instructions (the second has size 0): push takes
/// only a sign-extended 32-bit immediate.
[[nodiscard]] std::array<MovedInstruction, 2> push_address(core::Address value);
/// The same for calls that are executed often, in three instructions: a call of the next
/// instruction but its 8 bytes of data, rsp back, a push of the data. CPUs predict where a return
/// leads from the calls before it. With a push alone each return up the stack would be predicted to
/// lead where the one behind it does; so only this call's is predicted wrongly.
[[nodiscard]] std::array<MovedInstruction, 3> call_from(core::Address return_address);

}  // namespace sp::arch::x86_64
