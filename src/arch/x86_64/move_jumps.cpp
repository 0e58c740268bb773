#include "arch/x86_64/move.h"

namespace sp::arch::x86_64 {
namespace {

using core::Address;
using core::Flow;

/// A loop or jrcxz that skips a jump over one to its target.
std::vector<JumpPart> move_long_loop(const SourceInstruction& source, Address target) {
  using Where = JumpPart::Where;
  const MovedInstruction to_target = far_jump_to(target);
  MovedInstruction over = jump_to({});
  over.field_size = 0;
  over.bytes[over.field] = static_cast<std::byte>(to_target.size);
  return {
      {move_loop(source, over.size), Where::jump}, {over, Where::next}, {to_target, Where::target}};
}

}  // namespace

bool is_loop(const SourceInstruction& source) {
  const Encoding& encoding = source.encoding;
  return encoding.map == OpcodeMap::one_byte && (encoding.opcode & 0xFCU) == 0xE0U;
}

std::optional<MovedInstruction> move_short_jump(const SourceInstruction& source, Address target) {
  const Encoding& encoding = source.encoding;
  const bool is_jump =
      source.instruction.flow == Flow::jump || source.instruction.flow == Flow::call;
  const unsigned longest = encoding.opcode_offset + (is_jump ? 5U : 6U);
  const bool is_branch = source.instruction.flow == Flow::branch;
  if (longest > kLongestInstruction || encoding.has_modrm || is_loop(source) ||
      !(is_jump || is_branch)) {
    return std::nullopt;
  }
  MovedInstruction moved;
  moved.append(source.prefixes());
  moved.append({is_jump ? 0xEBU : 0x70U | (encoding.opcode & 0x0FU)});
  moved.append_displacement(1, target);
  return moved;
}

void widen(MovedInstruction& jump) {
  const auto opcode = std::to_integer<unsigned>(jump.bytes[jump.field - 1U]);
  jump.size = static_cast<std::uint8_t>(jump.field - 1U);
  if (opcode == 0xEB) {
    jump.append({0xE9});
  } else {
    jump.append({0x0F, opcode + 0x10U});  // 7x: 0F 8x
  }
  jump.append_displacement(4, jump.target);
}

std::optional<std::vector<JumpPart>> move_jump(const SourceInstruction& source, Address target,
                                               std::uint64_t /*within*/) {
  if (const auto jump = move_short_jump(source, target)) {
    return std::vector<JumpPart>{{*jump, JumpPart::Where::jump}};
  }
  // Else it has more prefixes than a near jump can have.
  return is_loop(source) ? std::optional(move_long_loop(source, target)) : std::nullopt;
}

bool widen_if_needed(MovedInstruction& jump, Address at, Address target) {
  if (jump.field_size != 1 || reaches(at + jump.size, target, 1)) {
    return false;
  }
  widen(jump);
  return true;
}

void make_far(MovedInstruction& jump) {
  if (jump.field_size == 1) {
    widen(jump);
  }
}

MovedInstruction move_loop(const SourceInstruction& source, std::uint8_t distance) {
  MovedInstruction moved;
  moved.append(source.code.first(source.code.size() - 1));
  moved.append({distance});
  return moved;
}

MovedInstruction jump_to(Address target) {
  MovedInstruction jump;
  jump.append({0xEB});
  jump.append_displacement(1, target);
  return jump;
}

MovedInstruction far_jump_to(Address target) {
  MovedInstruction jump = jump_to(target);
  widen(jump);
  return jump;
}

}  // namespace sp::arch::x86_64
