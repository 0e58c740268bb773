#pragma once

#include <sched.h>
#include <sys/types.h>

#include <vector>

namespace sp::supervisor {

/// Puts our threads where they serve the target best. Runs on the timer thread.
///
/// The scheduler puts a thread that we let run on an idle CPU if the one it was stopped on is not
/// idle: there it begins with cold caches, which costs a real program 100-300 us, ten times the
/// stop itself. So where a thread was stopped must look like the best place to it:
///
///  - It may run on that CPU alone: the ptrace thread is there too, and serves a stop in 17 us.
///  - It may run on two: the same, and the timer keeps the other one busy while a stop lasts.
///  - It may run on more: the ptrace thread stays away, so that the CPU is idle when the target is
///    let run. A stop served across CPUs costs more (40-60 us in a virtual machine) but less than
///    the move.
///
/// What computes (unwinding, naming) is kept away from the target in any case.
class CpuAffinity {
 public:
  /// `server` is the ptrace thread; `others` (tids too) are kept away.
  CpuAffinity(pid_t server, std::vector<pid_t> others);

  /// The target runs on this CPU alone, by its thread `tid`.
  void follow(int cpu, pid_t tid);
  /// It runs on several: everything is where the scheduler puts it.
  void visit();

  /// CPUs that we may run on.
  [[nodiscard]] int cpus() const { return cpus_; }
  /// The caller is to be busy from asking for a stop until the target runs again.
  [[nodiscard]] bool keeps_busy() const { return keeps_busy_; }

 private:
  void set(pid_t tid, const cpu_set_t& cpus) const;

  pid_t server_;
  std::vector<pid_t> others_;
  cpu_set_t allowed_{};
  int cpus_ = 1;
  int followed_ = -1;  // -1: none
  bool keeps_busy_ = false;
};

/// A set of this CPU alone.
[[nodiscard]] cpu_set_t only_cpu(int cpu);

}  // namespace sp::supervisor
