#pragma once

#include <sys/types.h>

#include <vector>

#include "core/result.h"
#include "supervisor/linux/ptrace.h"

namespace sp::supervisor {

struct AttachedProcess {
  pid_t pid = 0;
  std::vector<pid_t> threads;  // the leader first, if it is alive
};

/// Seizes every thread of a running process without stopping any. Lists the threads until there is
/// no new one: a thread that is created by a seized thread is traced automatically, one that is
/// created by a thread not seized yet shows up in the next list. Returns the tids, the leader first
/// if it is alive. Errors: those of PTRACE_SEIZE on the first thread (explain_attach_refusal()
/// explains them), ESRCH if the process ended meanwhile. The kernel detaches threads that were
/// seized before an error when the calling process ends.
[[nodiscard]] core::Result<std::vector<pid_t>> attach_to_all_threads(pid_t pid,
                                                                     ptrace::FollowOptions follow);

}  // namespace sp::supervisor
