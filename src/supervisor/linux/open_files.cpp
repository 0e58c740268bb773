#include "supervisor/linux/open_files.h"

#include <fmt/format.h>
#include <sys/eventfd.h>

#include <algorithm>

#include "core/fd.h"

namespace sp::supervisor {
namespace {

/// Files of the run directory, the guardian's socket, pipes, and kMostReserved.
constexpr rlim_t kLeast = 64;
/// For what is open for a moment: /proc files on each of our threads, debug information, sources.
constexpr rlim_t kMostReserved = 32;

rlimit g_before{};
bool g_was_raised = false;

rlim_t limit() {
  rlimit now{};
  return ::getrlimit(RLIMIT_NOFILE, &now) == 0 ? now.rlim_cur : kLeast;
}

}  // namespace

core::Result<void> raise_open_files_limit() {
  if (::getrlimit(RLIMIT_NOFILE, &g_before) != 0) {
    return core::fail_errno("reading the limit of open files");
  }
  if (g_before.rlim_max < kLeast) {
    return core::fail(
        fmt::format("superprofiler needs {} open files and may have {}: raise the "
                    "limit (ulimit -Hn) of the shell that starts it",
                    kLeast, g_before.rlim_max));
  }
  rlimit raised = g_before;
  raised.rlim_cur = raised.rlim_max;
  g_was_raised = ::setrlimit(RLIMIT_NOFILE, &raised) == 0;
  return {};
}

const rlimit* open_files_limit_before() { return g_was_raised ? &g_before : nullptr; }

bool may_keep_open(int fd) { return static_cast<rlim_t>(fd) < limit() / 2; }

bool are_open_files_scarce() {
  const core::UniqueFd lowest(::eventfd(0, EFD_CLOEXEC));
  const rlim_t most = limit();
  const rlim_t reserved = std::min(kMostReserved, most / 4);
  return !lowest.valid() || static_cast<rlim_t>(lowest.get()) + reserved >= most;
}

}  // namespace sp::supervisor
