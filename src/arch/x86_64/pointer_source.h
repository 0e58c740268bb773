#pragma once

#include <span>

#include "arch/pointer_source.h"
#include "arch/x86_64/move.h"

// Where the destination of an indirect jump comes from.
namespace sp::arch::x86_64 {

/// The general register that has a function's result.
inline constexpr unsigned kResultRegister = 0;

/// A register other than the stack pointer points into the frame from there on.
[[nodiscard]] bool sets_frame_pointer(const SourceInstruction& source);
/// The destination of an indirect jump. `has_frame_pointer`: the function sets_frame_pointer().
[[nodiscard]] PointerSource jump_source(const SourceInstruction& jump, bool has_frame_pointer);
/// The general register with that number, behind an instruction.
[[nodiscard]] PointerSource source_of(const SourceInstruction& source, unsigned reg,
                                      bool has_frame_pointer);
/// `before`, which is in front of a jump by `reg`, takes the function's frame away and computes no
/// destination: a tail call, or the return of an unwinder to a frame further out.
[[nodiscard]] bool leaves_frame(std::span<const SourceInstruction> before, unsigned reg);

}  // namespace sp::arch::x86_64
