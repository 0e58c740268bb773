#pragma once

#include <sys/types.h>

#include <string_view>

namespace sp::supervisor {

/// Whether the CPU compares the thread's returns with a second stack (x86-64's CET, aarch64's GCS).
/// There an instruction that is done in the thread's stead (a call, a return) would end the
/// process, and so would a signal frame that the kernel has not made.

/// As /proc/PID/status says: Linux 6.6, x86-64 only.
[[nodiscard]] bool status_shows_shadow_stack(std::string_view status);

/// As glibc is told by the environment (NUL after each variable), before it turns it on. Anything
/// about it counts, "off" too.
[[nodiscard]] bool environment_speaks_of_shadow_stack(std::string_view environment);

/// A stopped thread has one, or its process may be about to have one.
[[nodiscard]] bool has_shadow_stack(pid_t tid);

}  // namespace sp::supervisor
