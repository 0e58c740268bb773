#include "arch/aarch64/jump_table.h"

#include "arch/aarch64/encoding.h"
#include "arch/aarch64/symbolic_step.h"
#include "arch/symbolic_jump.h"
#include "arch/symbolic_values.h"

namespace sp::arch::aarch64 {
namespace {

/// Assumes the condition under which the conditional jump at `at` goes to `next`.
void assume_branch(SymbolicValues& values, std::uint32_t word, core::Address at,
                   core::Address next) {
  const core::Address behind = at + 4;
  if (at + offset_19(word) == behind) {
    return;
  }
  const Relation relation = relation_of(field(word, 0, 4));
  values.assume(next == behind ? opposite(relation) : relation);
}

bool is_br(std::uint32_t word) {
  return is_register_branch(word) && register_branch(word) == RegisterBranch::br &&
         !authenticates(word);
}

}  // namespace

JumpOnPath jump_on_path(std::span<const PathInstruction> path,
                        std::span<const KnownRegister> known) {
  SymbolicValues values;
  for (const auto& [reg, value] : known) {
    values.set(reg, SymbolicValues::constant(value));
  }
  for (std::size_t i = 0; i < path.size(); ++i) {
    const auto word = read_word(path[i].bytes);
    if (!word) {
      return {};
    }
    if (i + 1 == path.size()) {
      return is_br(*word) ? jump_to(values, values.get(field(*word, 5, 5))) : JumpOnPath{};
    }
    if (is_b_cond(*word)) {
      assume_branch(values, *word, path[i].address, path[i + 1].address);
    } else {
      follow_instruction(values, *word, path[i].address);
    }
  }
  return {};
}

RegisterEffect effect_on(const PathInstruction& step, unsigned reg) {
  const auto word = read_word(step.bytes);
  if (!word) {
    return {true, std::nullopt, std::nullopt};
  }
  SymbolicValues values;
  follow_instruction(values, *word, step.address);
  return values.effect_on(reg);
}

}  // namespace sp::arch::aarch64
