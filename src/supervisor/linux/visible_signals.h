#pragma once

#include <sys/types.h>

namespace sp::supervisor {

/// Whether a stopped thread's program sees a signal when the thread runs again, delivering
/// `signal` (0: none): one that has a handler or an effect, not one that the program ignores, nor a
/// SIGSTOP of ours. True if that cannot be told.
[[nodiscard]] bool sees_signal(pid_t tid, int signal);

}  // namespace sp::supervisor
