#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arch/x86_64/inserted_code.h"
#include "arch/x86_64/move.h"
#include "core/function_copy.h"

// Jumps of a copy that the original has not.
namespace sp::arch::x86_64 {

/// Can make the call itself, with the original's return address.
[[nodiscard]] bool can_emulate_call(const SourceInstruction& call);
/// That: the push of the return address and a jump. Nothing if it cannot.
[[nodiscard]] std::optional<std::vector<InsertedStep>> emulate_call(const SourceInstruction& call);

/// Bytes of the instruction at a loop's head in whose place a jump may be written while threads
/// run; 0 if it is not one for that, and exit_filler() has to stand in front of it. `first`: of the
/// original; null: code that counts.
[[nodiscard]] std::uint8_t exit_room(const SourceInstruction* first);
[[nodiscard]] MovedInstruction exit_filler();
/// An exit within inserted code, at `at`: a jump to `distance` bytes behind the two that it takes.
[[nodiscard]] core::CopyExit inserted_exit(core::Address at, core::Address original,
                                           std::int64_t distance);

}  // namespace sp::arch::x86_64
