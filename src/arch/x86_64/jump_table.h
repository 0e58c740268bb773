#pragma once

#include <span>

#include "arch/jump_table.h"

namespace sp::arch::x86_64 {

/// Recovers the jump table of the indirect jump at the end of a path, in which each instruction
/// follows the one before or is its target. `known` are register values at the beginning. May be
/// called on any thread.
[[nodiscard]] JumpOnPath jump_on_path(std::span<const PathInstruction> path,
                                      std::span<const KnownRegister> known);

/// A call changes the caller-saved registers only (System V ABI, AMD64 supplement, 3.2.1).
[[nodiscard]] RegisterEffect effect_on(const PathInstruction& step, unsigned reg);

}  // namespace sp::arch::x86_64
