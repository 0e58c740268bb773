#pragma once

#include <sched.h>
#include <sys/types.h>

#include <vector>

namespace sp::supervisor {

/// Moves our threads to the CPUs where they disturb the target least. Runs on the timer thread.
///
/// The scheduler moves a resumed thread to an idle CPU if the one on which it was stopped is not
/// idle. There it starts with cold caches, which costs a real program 100-300 us, ten times the
/// stop itself. So the CPU on which a thread was stopped must look like the best place to the
/// scheduler:
///
///  - The target may run on that CPU alone: the ptrace thread is there too, and serves a stop in
///    17 us.
///  - It may run on two: the same, and the timer keeps the other one busy while a stop lasts.
///  - It may run on more: the ptrace thread stays away, so that the CPU is idle when the target is
///    resumed. A stop that is served across CPUs costs more (40-60 us in a virtual machine) but
///    less than the move.
///
/// Our threads that compute (unwinding, naming) are kept away from the target in any case, and so
/// is the ptrace thread while it has to run before a stop can begin (see server_interrupts()).
class CpuAffinity {
 public:
  /// `server` is the tid of the ptrace thread; the threads `others` are kept away.
  CpuAffinity(pid_t server, std::vector<pid_t> others);

  /// The target runs on this CPU alone, with its thread `tid`.
  void follow(int cpu, pid_t tid);
  /// The server stops threads itself, with PTRACE_INTERRUPT. On the CPU of the target it could do
  /// so only when the target has used up its turn: late by milliseconds, and in step with the
  /// kernel's clock.
  void server_interrupts() { server_interrupts_ = true; }
  /// It runs on several CPUs: leaves all threads to the scheduler.
  void spread();

  /// How many CPUs we may run on.
  [[nodiscard]] int cpus() const { return cpus_; }
  /// Whether the caller has to keep its CPU busy from requesting a stop until the target runs
  /// again.
  [[nodiscard]] bool keeps_busy() const { return keeps_busy_; }
  /// The CPU that is to be kept busy, where one is.
  [[nodiscard]] const cpu_set_t& kept_busy() const { return kept_busy_; }

 private:
  void set(pid_t tid, const cpu_set_t& cpus) const;

  pid_t server_;
  std::vector<pid_t> others_;
  cpu_set_t allowed_{};
  int cpus_ = 1;
  int followed_ = -1;  // -1: none
  bool keeps_busy_ = false;
  cpu_set_t kept_busy_{};
  bool server_interrupts_ = false;
};

/// A set of one CPU.
[[nodiscard]] cpu_set_t only_cpu(int cpu);

}  // namespace sp::supervisor
