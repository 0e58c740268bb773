#pragma once

#include <sys/types.h>

#include <vector>

#include "core/result.h"
#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {

/// Seizes every thread of a running process without stopping any, looking again until no new one
/// is found: a thread that is born from a seized one comes to us by itself, one that is born from
/// a thread not yet seized is found by the next look. Returns the tids, the leader first where it
/// is alive. Errors: those of PTRACE_SEIZE on the first thread (explain_attach_refusal() says why),
/// ESRCH where the process ended meanwhile. What was seized before an error is let go when the
/// calling process ends.
[[nodiscard]] core::Result<std::vector<pid_t>> attach_to_all_threads(pid_t pid,
                                                                     ptrace::FollowOptions follow);

}  // namespace sp::supervisor
