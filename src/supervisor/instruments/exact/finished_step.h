#pragma once

#include <sys/types.h>

#include <optional>

#include "core/address.h"
#include "core/instruction.h"
#include "supervisor/instruments/exact/counted_code.h"
#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {

/// A thread was stepped over an instruction and stands at `pc`: has it executed the one behind
/// that, too? In some virtual machines the trap comes one instruction late where the hypervisor
/// emulates the first (cpuid; seen on AMD under Linux 6.18).
[[nodiscard]] bool has_executed(const core::Instruction& behind, core::Address pc);

/// The step over `stepped` has ended: removes its traces, and returns the instruction that the
/// thread has executed last. Nothing where `stepped` is nothing.
[[nodiscard]] std::optional<core::Instruction> finish_step(
    CountedCode& code, pid_t tid, const std::optional<core::Instruction>& stepped,
    ptrace::Registers& registers);

}  // namespace sp::supervisor
