#pragma once

#include <cstdint>
#include <optional>

#include "arch/aarch64/move.h"
#include "arch/inserted_step.h"

namespace sp::arch::aarch64 {

using InsertedStep = InsertedStepOf<MovedInstruction>;
using InsertedCode = InsertedCodeOf<MovedInstruction>;

/// Threads have no tables of their own, without a segment: copies count no transfers and write no
/// events.
[[nodiscard]] inline std::optional<InsertedCode> count_transfer(
    const SourceInstruction& /*transfer*/, const core::TransferTable& /*table*/,
    std::uint32_t /*site*/, bool /*saves_flags*/) {
  return std::nullopt;
}
[[nodiscard]] inline InsertedCode write_event(const core::EventRing& /*ring*/,
                                              const core::FunctionToCopy::Place& /*place*/,
                                              bool /*saves_flags*/) {
  return {};
}

}  // namespace sp::arch::aarch64
