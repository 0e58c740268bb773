#include "supervisor/startup/attach.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <string>

#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

/// Dead but not reaped yet, like a leader that has called pthread_exit().
bool is_dead(pid_t tid) {
  const auto stat = read_stat(tid);
  return !stat || stat->state == 'Z' || stat->state == 'X';
}

/// Traced by us already: through PTRACE_O_TRACECLONE of the thread that created it.
bool is_ours_already(pid_t tid) {
  const auto status = read_proc(fmt::format("/proc/{}/status", tid));
  const auto tracer = status ? status_field(*status, "TracerPid") : std::nullopt;
  return tracer && *tracer == std::to_string(::getpid());
}

}  // namespace

core::Result<std::vector<pid_t>> attach_to_all_threads(pid_t pid, ptrace::FollowOptions follow) {
  // The kernel and /proc accept a tid in place of a pid; our tables do not.
  if (const auto leader = read_thread_group(pid); leader && *leader != pid) {
    return core::fail(fmt::format("thread {} of process {}", pid, *leader), EINVAL);
  }
  std::vector<pid_t> seized;
  std::set<pid_t> known;
  bool found = true;
  while (found) {
    found = false;
    auto tids = list_threads(pid);
    if (!tids) {
      return core::fail(fmt::format("process {}", pid), ESRCH);
    }
    std::sort(tids->begin(), tids->end());
    std::stable_partition(tids->begin(), tids->end(), [pid](pid_t tid) { return tid == pid; });
    for (const pid_t tid : *tids) {
      if (!known.insert(tid).second) {
        continue;
      }
      found = true;
      const auto answer = ptrace::seize(tid, follow);
      if (answer || is_ours_already(tid)) {
        seized.push_back(tid);
      } else if (answer.error().code != ESRCH && !is_dead(tid)) {
        return tl::unexpected(answer.error());
      }
    }
  }
  if (seized.empty()) {
    return core::fail(fmt::format("process {}", pid), is_dead(pid) ? EPERM : ESRCH);
  }
  return seized;
}

}  // namespace sp::supervisor
