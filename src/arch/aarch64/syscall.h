#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "arch/aarch64/registers.h"

namespace sp::arch::aarch64 {

/// "" if the number is not known.
[[nodiscard]] std::string_view syscall_name(int number);

/// The number (x8) of the call that is about to return -EINTR; nothing at every other stop. The
/// registers do not tell whether a thread came through `svc`, so only the error number identifies a
/// call. User code with -4 in x0 looks the same, so a caller that acts on the answer must also
/// check for `svc #0` (0xD4000001) in front of pc.
[[nodiscard]] std::optional<int> leaving_syscall(const Registers& registers);

/// leaving_syscall() has an answer, with the same uncertainty.
[[nodiscard]] bool returns_eintr(const Registers& registers);

/// Always false: before the tracer sees the stop, the kernel has set pc back to the `svc` and x0 to
/// the first argument, so a call that will be restarted looks like one that has not begun.
[[nodiscard]] bool will_restart(const Registers& registers);

/// Sets pc back to the `svc`, and x0, which the result has overwritten, to `first_argument`.
void restart_call(Registers& registers, std::uint64_t first_argument);

[[nodiscard]] bool is_restartable(int number);

}  // namespace sp::arch::aarch64
