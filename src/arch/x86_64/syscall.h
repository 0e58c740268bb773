#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "arch/x86_64/registers.h"

namespace sp::arch::x86_64 {

/// "" if the number is not known.
[[nodiscard]] std::string_view syscall_name(int number);

/// The number of the call that a stopped thread is returning from: orig_rax, which is -1 if the
/// thread was stopped in user code. A thread stopped at the entry of a signal handler still has the
/// number of the call that the signal interrupted, with rax = 0.
[[nodiscard]] std::optional<int> leaving_syscall(const Registers& registers);

/// That call is about to return -EINTR, which the kernel does not restart.
[[nodiscard]] bool returns_eintr(const Registers& registers);

/// That call was interrupted and the kernel will restart it by itself, unless a handler runs first.
[[nodiscard]] bool will_restart(const Registers& registers);

/// Makes the kernel repeat the call of a thread that is in a signal-delivery-stop, group-stop or
/// PTRACE_INTERRUPT stop. `first_argument` is still in its register here and is not used.
void restart_call(Registers& registers, std::uint64_t first_argument);

[[nodiscard]] bool is_restartable(int number);

}  // namespace sp::arch::x86_64
