#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/instruction.h"

namespace sp::analyzer {

/// How control goes on behind an instruction, as far as a system call changes that.
enum class BehindCall : std::uint8_t {
  once,
  in_two_or_none,  // tasks: what stands before the call is executed once
  never,           // but where a signal came
};

/// Of the instruction at `at`. System calls are known by the number that is loaded in front of
/// them.
[[nodiscard]] BehindCall behind_call(std::span<const std::byte> code, std::uint64_t at,
                                     const core::Instruction& instruction);

}  // namespace sp::analyzer
