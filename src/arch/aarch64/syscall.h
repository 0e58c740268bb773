#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "arch/aarch64/registers.h"

namespace sp::arch::aarch64 {

/// "" where the number is not known.
[[nodiscard]] std::string_view syscall_name(int number);

/// The number (x8) of the call that is about to return -EINTR. Nothing for every other stop: the
/// registers do not say whether a thread came through `svc`, so only the error number gives a call
/// away. User code that holds -4 in x0 looks the same, so a caller that acts on the answer also
/// looks for `svc #0` (0xD4000001) in front of pc.
[[nodiscard]] std::optional<int> leaving_syscall(const Registers& registers);

/// leaving_syscall() has an answer, under the same doubt.
[[nodiscard]] bool returns_eintr(const Registers& registers);

/// Always false: before the tracer sees the stop, the kernel has put pc back on the `svc` and x0
/// back to the first argument, so a call to be restarted looks like one not yet made.
[[nodiscard]] bool will_restart(const Registers& registers);

/// Puts pc back on the `svc`, and `first_argument` into x0, which the result has overwritten.
void restart_call(Registers& registers, std::uint64_t first_argument);

[[nodiscard]] bool is_restartable(int number);

}  // namespace sp::arch::aarch64
