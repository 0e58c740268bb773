#pragma once

#include <sys/types.h>

#include <string_view>

namespace sp::supervisor {

/// Whether the CPU checks a thread's returns against a shadow stack (x86-64's CET, AArch64's GCS).
/// With one, emulating a call or a return would kill the process, and so would a signal frame that
/// the kernel has not made.

/// According to /proc/PID/status: Linux 6.6, x86-64 only.
[[nodiscard]] bool status_shows_shadow_stack(std::string_view status);

/// According to the environment (NUL after each variable), by which glibc is told to enable it. Any
/// mention counts, even "off".
[[nodiscard]] bool environment_speaks_of_shadow_stack(std::string_view environment);

/// Whether a stopped thread has one, or its process may be about to enable it.
[[nodiscard]] bool has_shadow_stack(pid_t tid);

}  // namespace sp::supervisor
