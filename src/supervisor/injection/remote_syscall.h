#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>

#include "core/address.h"
#include "core/result.h"

namespace sp::supervisor {

/// Where in a process's memory a thread can be made to do calls; nothing where that cannot be.
[[nodiscard]] std::optional<core::Address> find_code_cave(pid_t tid);

/// Makes a stopped thread do one system call, in which it must not block, and puts its registers
/// and signal mask back. `place` is what find_code_cave() said, or in an executable page of
/// ours, whose rest is free then. The thread is about to go on
/// in user code (a stop for a signal or an interrupt). The answer is the kernel's: a negative errno
/// where the call failed.
///
/// Where no signal is about to be delivered, the thread does it in a few instructions that put its
/// registers and its mask back by themselves: where we are killed meanwhile it goes on as if
/// nothing had happened, and they stay there. It is in a stop of PTRACE_INTERRUPT's afterwards.
[[nodiscard]] core::Result<std::int64_t> remote_syscall(
    pid_t tid, core::Address place, long number, const std::array<std::uint64_t, 6>& arguments);

}  // namespace sp::supervisor
