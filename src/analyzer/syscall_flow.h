#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/instruction.h"

// System calls behind which control does not come once, found by the number that is loaded in front
// of them.
namespace sp::analyzer {

/// Control comes behind the call at `at` in two tasks, or in none: what stands before it is
/// executed once.
[[nodiscard]] bool makes_task_or_program(std::span<const std::byte> code, std::uint64_t at,
                                         const core::Instruction& instruction);
/// Control goes on where a signal came.
[[nodiscard]] bool ends_handler(std::span<const std::byte> code, std::uint64_t at,
                                const core::Instruction& instruction);

}  // namespace sp::analyzer
