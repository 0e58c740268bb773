#include "supervisor/guardian/trap_drain.h"

#include <fmt/format.h>
#include <signal.h>

#include <cstdlib>
#include <optional>

#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {

bool TrapDrain::check() {
  if (!began_) {
    began_ = true;
    // A thread that is created later starts where no breakpoint is.
    for (const pid_t tid : list_threads(pid_).value_or(std::vector<pid_t>{})) {
      const auto used = read_proc(fmt::format("/proc/{}/task/{}/schedstat", pid_, tid));
      waiting_[tid] = used ? std::strtoull(used->c_str(), nullptr, 10) : 0;
    }
  }
  std::erase_if(waiting_, [this](const auto& thread) { return check_thread(thread.first); });
  return waiting_.empty();
}

bool TrapDrain::check_thread(pid_t tid) {
  const auto stat = read_proc(fmt::format("/proc/{}/task/{}/stat", pid_, tid));
  char state = 'X';
  if (const auto fields = parse_stat(stat.value_or(""))) {
    state = fields->state;
  }
  const auto used = read_proc(fmt::format("/proc/{}/task/{}/schedstat", pid_, tid));
  const auto masks = read_signal_masks(tid);
  if (!used || !masks || state == 'Z' || state == 'X') {
    return true;
  }
  const std::uint64_t now = std::strtoull(used->c_str(), nullptr, 10);
  if ((masks->thread_pending & (std::uint64_t{1} << (SIGTRAP - 1))) != 0) {
    waiting_[tid] = now;
    return false;
  }
  if (is_within_ && (state == 'T' || state == 't')) {
    // The stop may be over by now: then it runs, and shows nothing.
    const auto where = read_syscall(tid);
    return where && !is_within_(where->pc);
  }
  if (state == 'S' || now - waiting_[tid] >= enough_) {
    return true;
  }
  // The parent of a vfork waits like that for as long as its child takes, which may wait for us.
  const auto call = state == 'D' ? read_syscall(tid) : std::nullopt;
  return call && call->number >= 0;
}

}  // namespace sp::supervisor
