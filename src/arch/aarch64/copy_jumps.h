#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arch/aarch64/inserted_code.h"
#include "arch/aarch64/move.h"
#include "core/function_copy.h"

// Jumps of a copy that the original has not.
namespace sp::arch::aarch64 {

/// Can make the call itself, with the original's return address.
[[nodiscard]] bool can_emulate_call(const SourceInstruction& call);
/// That: the return address in x30, and a jump. Nothing if it cannot.
[[nodiscard]] std::optional<std::vector<InsertedStep>> emulate_call(const SourceInstruction& call);

/// Only a few instructions may be replaced while threads run, a nop among them (arch/live_patch.h):
/// no instruction of the original serves, nor does one that counts.
[[nodiscard]] constexpr std::uint8_t exit_room(const SourceInstruction* /*first*/) { return 0; }
[[nodiscard]] MovedInstruction exit_filler();
/// An exit within inserted code, at `at`: a jump to `distance` bytes behind it.
[[nodiscard]] core::CopyExit inserted_exit(core::Address at, core::Address original,
                                           std::int64_t distance);

}  // namespace sp::arch::aarch64
