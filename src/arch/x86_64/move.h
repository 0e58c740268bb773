#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

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
  /// So many bytes, from its own on, have to stay without others in between; 0: it stands alone.
  std::uint8_t bound_length = 0;
  bool is_bound = false;  // to the instruction before it

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
  [[nodiscard]] bool has_target() const { return field_size != 0; }
  /// The displacement stays as place() has made it.
  void settle() { field_size = 0; }
};

/// Sizes of jumps within 2 GiB and within 128 bytes.
inline constexpr std::uint8_t kLongJump = 5;
inline constexpr std::uint8_t kShortJump = 2;

/// Instructions that stand for one; those behind the last one have size 0.
using MovedCode = std::array<MovedInstruction, 1>;

/// Part of what stands for a jump.
struct JumpPart {
  MovedInstruction code;
  enum class Where : std::uint8_t { jump, next, target } where = Where::jump;  // control is there
};

/// False if the displacement does not reach from `at`.
[[nodiscard]] bool place(MovedInstruction& moved, core::Address at);
/// True if a displacement of `size` bytes leads from `end` to `target`.
[[nodiscard]] bool reaches(core::Address end, core::Address target, unsigned size);

/// Why a copy of a function cannot have the instruction, not even left in the original.
[[nodiscard]] std::optional<core::CopyRefusal> refuse_move(const SourceInstruction& source);

/// Bytes of the nop or int3 that `code` begins with; 0 if it does with something else.
[[nodiscard]] std::size_t padding_length(std::span<const std::byte> code);
/// Bytes of an instruction at the beginning of a function that has to stay there: none.
[[nodiscard]] constexpr std::uint8_t pad_length(const SourceInstruction& /*first*/) { return 0; }

/// The instruction with its rip-relative displacement to be corrected: for all that does not jump,
/// call or enter the kernel by a displacement of its own. Nothing if it is relative to eip.
[[nodiscard]] std::optional<MovedInstruction> move_unchanged(const SourceInstruction& source);
/// The same. `function`: its bytes, from `begin` on, some of which the instruction may read.
[[nodiscard]] std::optional<MovedCode> move_plain(const SourceInstruction& source,
                                                  std::span<const std::byte> function,
                                                  core::Address begin);

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

/// All direct jumps and conditional jumps. Those with displacements of one byte may be widened
/// later, so that `within`, the distance in bytes that they may have to reach, does not matter.
[[nodiscard]] std::optional<std::vector<JumpPart>> move_jump(const SourceInstruction& source,
                                                             core::Address target,
                                                             std::uint64_t within);
/// Widens a jump that has a short form and does not reach from `at`; true if it did.
bool widen_if_needed(MovedInstruction& jump, core::Address at, core::Address target);
/// Widens a jump that has a short form.
void make_far(MovedInstruction& jump);

/// jmp rel8; widen() makes it jmp rel32.
[[nodiscard]] MovedInstruction jump_to(core::Address target);
/// jmp rel32
[[nodiscard]] MovedInstruction far_jump_to(core::Address target);

/// A call's effect on the stack, in one or two instructions (the second has size 0): push takes
/// only a sign-extended 32-bit immediate.
[[nodiscard]] std::array<MovedInstruction, 2> push_address(core::Address value);
/// The same for calls that are executed often, in three instructions: a call of the next
/// instruction but its 8 bytes of data, rsp back, a push of the data. CPUs predict where a return
/// leads from the calls before it. With a push alone each return up the stack would be predicted to
/// lead where the one behind it does; so only this call's is predicted wrongly.
[[nodiscard]] std::array<MovedInstruction, 3> call_from(core::Address return_address);

}  // namespace sp::arch::x86_64
