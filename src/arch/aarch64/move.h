#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "core/address.h"
#include "core/function_copy.h"
#include "core/instruction.h"

namespace sp::arch::aarch64 {

/// One instruction where the program has it.
struct SourceInstruction {
  std::span<const std::byte> code;  // its own bytes
  std::uint32_t word = 0;
  core::Instruction instruction;
  /// So many bytes, from its own on, have to stay without others in between: a load-exclusive up to
  /// its store-exclusive, or movprfx and what it is a prefix of; 0: it stands alone.
  std::uint8_t bound_length = 0;
  bool is_bound = false;  // to the instruction before it
};
/// Of the first instruction of `bytes`, which may be longer; nothing if decode() has nothing.
[[nodiscard]] std::optional<SourceInstruction> read_instruction(std::span<const std::byte> bytes,
                                                                core::Address address);

/// An instruction that is placed later: place() fills in the offset, if it has one, that leads to
/// `target`.
struct MovedInstruction {
  enum class Field : std::uint8_t { none, imm26, imm19, imm14, page };  // page: adrp's

  std::array<std::byte, 16> bytes{};
  std::uint8_t size = 0;
  Field field = Field::none;
  core::Address target;

  MovedInstruction() = default;
  explicit MovedInstruction(std::uint32_t word) { append(word); }
  MovedInstruction(std::uint32_t word, Field offset, core::Address to) : MovedInstruction(word) {
    field = offset;
    target = to;
  }
  void append(std::uint32_t word);
  [[nodiscard]] std::span<const std::byte> code() const {
    return std::span<const std::byte>(bytes).first(size);
  }
  [[nodiscard]] bool has_target() const { return field != Field::none; }
  /// The offset stays as place() has made it.
  void settle() { field = Field::none; }
};

/// Every jump has one size.
inline constexpr std::uint8_t kLongJump = 4;
inline constexpr std::uint8_t kShortJump = 4;

/// Instructions that stand for one; those behind the last one have size 0. If one of them is the
/// next, they can all be executed again.
using MovedCode = std::array<MovedInstruction, 3>;

/// Part of what stands for a jump.
struct JumpPart {
  MovedInstruction code;
  enum class Where : std::uint8_t { jump, next, target } where = Where::jump;  // control is there
};

/// False if the offset does not reach from `at`.
[[nodiscard]] bool place(MovedInstruction& moved, core::Address at);
/// True if a `b` at `from` reaches `target`.
[[nodiscard]] bool reaches(core::Address from, core::Address target, unsigned size);

/// Why a copy of a function cannot have the instruction, not even left in the original.
[[nodiscard]] std::optional<core::CopyRefusal> refuse_move(const SourceInstruction& source);

/// Bytes of the nop, breakpoint or udf that `code` begins with; 0 if it does with something else.
[[nodiscard]] std::size_t padding_length(std::span<const std::byte> code);
/// Bytes of an instruction at the beginning of a function, or of a part that indirect jumps lead
/// to, which has to stay there: bti, paciasp, pacibsp (Arm ARM, D8.4.6, "branch target
/// identification"). 0: it begins with something else.
[[nodiscard]] std::uint8_t pad_length(const SourceInstruction& first);

/// What stands for an instruction that does not jump, call or enter the kernel by an offset of its
/// own. `function`: its bytes, from `begin` on, some of which the instruction may read. Nothing if
/// it reads from memory elsewhere, and has no general register that could hold an address.
[[nodiscard]] std::optional<MovedCode> move_plain(const SourceInstruction& source,
                                                  std::span<const std::byte> function,
                                                  core::Address begin);
/// Of all direct jumps and conditional jumps. `within`: the distance in bytes that they may have to
/// reach; conditional ones that do not are inverted and skip a `b`.
[[nodiscard]] std::optional<std::vector<JumpPart>> move_jump(const SourceInstruction& source,
                                                             core::Address target,
                                                             std::uint64_t within);
/// No jump has another form.
constexpr bool widen_if_needed(MovedInstruction& /*jump*/, core::Address /*at*/,
                               core::Address /*target*/) {
  return false;
}
constexpr void make_far(MovedInstruction& /*jump*/) {}

/// b
[[nodiscard]] MovedInstruction jump_to(core::Address target);
[[nodiscard]] inline MovedInstruction far_jump_to(core::Address target) { return jump_to(target); }

/// movz of the lowest 16 bits of `value`, and a movk for each further 16 that are not 0.
[[nodiscard]] std::vector<MovedInstruction> move_number(unsigned reg, std::uint64_t value);

}  // namespace sp::arch::aarch64
