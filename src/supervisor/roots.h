#pragma once

#include <sys/types.h>

#include <map>
#include <set>

namespace sp::supervisor {

/// What the run is of, and lasts for: processes, or threads that -p named. The ptrace thread's
/// alone.
class Roots {
 public:
  /// `tid`: the pid, but where a single thread was named.
  void add(pid_t pid, pid_t tid) { named_[pid].insert(tid); }

  [[nodiscard]] bool has_process(pid_t pid) const { return named_.contains(pid); }
  /// The thread is a named one of its process, or the main one of another process.
  [[nodiscard]] bool is_main(pid_t pid, pid_t tid) const {
    const auto named = named_.find(pid);
    return named == named_.end() ? tid == pid : named->second.contains(tid);
  }

  /// It executes another program: its threads are gone, whichever called exec.
  void become_process(pid_t pid) {
    if (const auto named = named_.find(pid); named != named_.end()) {
      named->second = {pid};
    }
  }
  /// True if it was the last one.
  bool end_process(pid_t pid) { return named_.erase(pid) > 0 && named_.empty(); }
  /// The same for a thread, or a process by its main thread, which ends last.
  bool end_thread(pid_t tid) {
    for (auto& [pid, tids] : named_) {
      if (tids.erase(tid) > 0) {
        return tids.empty() && end_process(pid);
      }
    }
    return false;
  }

 private:
  std::map<pid_t, std::set<pid_t>> named_;
};

}  // namespace sp::supervisor
