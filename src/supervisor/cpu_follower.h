#pragma once

#include <sched.h>
#include <sys/types.h>

#include <vector>

namespace sp::supervisor {

/// Puts our threads where they serve the target best. Runs on the timer thread.
///
/// The ptrace thread is on the CPU of the thread that it serves: a stop served across CPUs costs
/// 40-60 us in a virtual machine, one served there 17 us in all.
///
/// The timer thread ticks elsewhere as a rule. A stop that is asked for from another CPU then
/// arrives an interrupt later (1 us, in virtual machines 20 us), which is no matter to a program
/// that computes; but one that makes a system call every few microseconds is in its next call by
/// then, and all its samples would fall there. For such a program (`tick_there`) the timer ticks on
/// the target's own CPU: its wake-up itself takes the thread off the CPU at whatever instruction it
/// was. That is right, and costs the target 40 us more. What computes (unwinding, naming) stays
/// away from the target.
class CpuFollower {
 public:
  /// `server` is the ptrace thread; `others` (tids too) are kept away.
  CpuFollower(pid_t server, std::vector<pid_t> others);

  /// The target runs on this CPU alone.
  void follow(int cpu, bool tick_there);
  /// It runs on several: the timer ticks on this one next, and who serves the stops is wherever
  /// the scheduler puts it.
  void visit(int cpu, bool tick_there);

  /// CPUs that we may run on.
  [[nodiscard]] int cpus() const { return cpus_; }
  /// Where the timer ticks; -1: anywhere but on the target's CPU.
  [[nodiscard]] int at() const { return at_; }

 private:
  [[nodiscard]] bool may_use(int cpu) const;
  void set(pid_t tid, const cpu_set_t& cpus) const;

  pid_t server_;
  std::vector<pid_t> others_;
  cpu_set_t allowed_{};
  int cpus_ = 1;
  int at_ = -1;
  int server_at_ = -1;  // -1: anywhere
};

}  // namespace sp::supervisor
