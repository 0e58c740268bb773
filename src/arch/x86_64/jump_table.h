#pragma once

#include <span>

#include "arch/jump_table.h"

namespace sp::arch::x86_64 {

/// What a path of single instructions, each behind or jumped to by the one before, says of the
/// indirect jump at its end. `known` holds at its beginning. May be called on any thread.
[[nodiscard]] JumpOnPath jump_on_path(std::span<const PathInstruction> path,
                                      std::span<const KnownRegister> known);

/// Calls leave the registers alone that the callee must keep (System V ABI, AMD64
/// supplement, 3.2.1).
[[nodiscard]] RegisterEffect effect_on(const PathInstruction& step, unsigned reg);

}  // namespace sp::arch::x86_64
