#pragma once

#include <optional>

#include "arch/x86_64/move.h"

// What leads where an indirect call, an indirect jump or a return does, or says where that is,
// once the stack pointer was moved.
namespace sp::arch::x86_64 {

/// jmp through the operand of an indirect call, after the call's push has moved rsp. Nothing if
/// the push may have overwritten the operand.
[[nodiscard]] std::optional<MovedInstruction> jump_through_operand(const SourceInstruction& call);

/// mov of the destination to rax, while rsp is `below` bytes less than it is for the transfer; all
/// other registers are the transfer's. Nothing if only some CPUs take that for the destination.
[[nodiscard]] std::optional<MovedInstruction> load_destination(const SourceInstruction& transfer,
                                                               std::uint8_t below);

}  // namespace sp::arch::x86_64
