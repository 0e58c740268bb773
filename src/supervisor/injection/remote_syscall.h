#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>

#include "core/address.h"
#include "core/result.h"

namespace sp::supervisor {

/// Makes a stopped thread execute one system call, which must not block, and restores its registers
/// and signal mask. `place` is a code cave (see find_code_cave()), or in an executable page of
/// ours, whose rest is free then. The thread must be about to go on in user code: in a
/// signal-delivery-stop or an interrupt stop. Returns what the kernel does: a negative errno if the
/// call failed.
///
/// If no signal is about to be delivered, the call is made by a few instructions that restore the
/// thread's registers and mask by themselves: if we are killed meanwhile, the thread goes on as if
/// nothing had happened, and those bytes stay in the cave. Afterwards the thread is in a stop of
/// PTRACE_INTERRUPT. Else it is in one from which that signal can be delivered, with its siginfo.
///
/// `trap_is_served`: where the thread stands at a SIGTRAP, that was ours, and its registers are
/// those that it goes on with: nothing is to be delivered.
[[nodiscard]] core::Result<std::int64_t> remote_syscall(
    pid_t tid, core::Address place, long number, const std::array<std::uint64_t, 6>& arguments,
    bool trap_is_served = false);

}  // namespace sp::supervisor
