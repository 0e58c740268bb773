#include "arch/x86_64/jump_table.h"

#include "arch/symbolic_jump.h"
#include "arch/symbolic_values.h"
#include "arch/x86_64/symbolic_operands.h"
#include "arch/x86_64/symbolic_step.h"

namespace sp::arch::x86_64 {
namespace {

/// Assumes the condition under which the conditional jump at `at` goes to `next`.
void assume_branch(SymbolicValues& values, const Encoding& jump, core::Address at,
                   core::Address next) {
  const core::Address behind = at + jump.length;
  if (behind + static_cast<std::uint64_t>(jump.immediate) == behind) {
    return;
  }
  const Relation relation = relation_of(jump.opcode & 0xFU);
  values.assume(next == behind ? opposite(relation) : relation);
}

bool is_near_indirect_jump(const Encoding& encoding) {
  return encoding.map == OpcodeMap::one_byte && encoding.opcode == 0xFF &&
         encoding.extension() == 4 && !encoding.is_narrow();  // with 66 see decode()
}

}  // namespace

JumpOnPath jump_on_path(std::span<const PathInstruction> path,
                        std::span<const KnownRegister> known) {
  SymbolicValues values;
  for (const auto& [reg, value] : known) {
    values.set(reg, SymbolicValues::constant(value));
  }
  for (std::size_t i = 0; i < path.size(); ++i) {
    const auto encoding = read_encoding(path[i].bytes);
    if (!encoding) {
      return {};
    }
    const core::Address at = path[i].address;
    if (i + 1 == path.size()) {
      return is_near_indirect_jump(*encoding)
                 ? jump_to(values, read_operand(values, *encoding, at, 8, false))
                 : JumpOnPath{};
    }
    if (encoding->is_conditional_jump()) {
      assume_branch(values, *encoding, at, path[i + 1].address);
    } else {
      follow_instruction(values, *encoding, at);
    }
  }
  return {};
}

RegisterEffect effect_on(const PathInstruction& step, unsigned reg) {
  const auto encoding = read_encoding(step.bytes);
  if (!encoding) {
    return {true, std::nullopt, std::nullopt};
  }
  SymbolicValues values;
  follow_instruction(values, *encoding, step.address);
  return values.effect_on(reg);
}

}  // namespace sp::arch::x86_64
