#pragma once

#include <cstdint>
#include <optional>

#include "supervisor/instruments/exact/flow_recorder.h"
#include "supervisor/instruments/sigtrap_mask.h"
#include "supervisor/linux/ptrace.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// rt_sigaction, as exact counting sees it: SIGTRAP has our handler, and the masks of other
/// handlers do not have SIGTRAP (handler_masks.h). The program sees what it has set.

/// Does the call at a gate. Returns its result; nothing where the kernel has to do it.
[[nodiscard]] std::optional<std::int64_t> sigaction_at_gate(const Tracee& tracee,
                                                            const SyscallRequest& call,
                                                            const ptrace::Registers& registers);
/// The same where there is no gate: at the call's entry,
void before_sigaction(const Tracee& tracee, CountedThread::Syscall& syscall);
/// and at its exit.
void after_sigaction(const Tracee& tracee, const CountedThread::Syscall& syscall,
                     std::int64_t result);

}  // namespace sp::supervisor
