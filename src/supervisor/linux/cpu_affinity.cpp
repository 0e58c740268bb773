#include "supervisor/linux/cpu_affinity.h"

#include <utility>

#include "supervisor/linux/helper_threads.h"

namespace sp::supervisor {

cpu_set_t only_cpu(int cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(cpu, &cpus);
  return cpus;
}

CpuAffinity::CpuAffinity(pid_t server, std::vector<pid_t> others)
    : server_(server), others_(std::move(others)) {
  if (::sched_getaffinity(0, sizeof allowed_, &allowed_) == 0) {
    cpus_ = CPU_COUNT(&allowed_);
    HelperThreads::of_process().keep_on(allowed_);
  }
}

void CpuAffinity::follow(int cpu, pid_t tid) {
  cpu_set_t others_of_target;
  if (cpu == followed_ || cpus_ < 2 || cpu < 0 || cpu >= CPU_SETSIZE ||
      !CPU_ISSET(cpu, &allowed_) ||
      ::sched_getaffinity(tid, sizeof others_of_target, &others_of_target) != 0) {
    return;
  }
  followed_ = cpu;
  CPU_CLR(cpu, &others_of_target);
  const int others = CPU_COUNT(&others_of_target);
  cpu_set_t in_both;
  CPU_AND(&in_both, &others_of_target, &allowed_);
  keeps_busy_ = !server_interrupts_ && others == 1 && CPU_COUNT(&in_both) == 1;
  kept_busy_ = in_both;
  cpu_set_t elsewhere = allowed_;
  CPU_CLR(cpu, &elsewhere);
  const bool beside = !server_interrupts_ && (others == 0 || keeps_busy_);
  set(server_, beside ? only_cpu(cpu) : elsewhere);
  set(0, keeps_busy_ ? in_both : elsewhere);
  for (const pid_t tid_of_ours : others_) {
    set(tid_of_ours, elsewhere);
  }
  HelperThreads::of_process().keep_on(elsewhere);
}

void CpuAffinity::spread() {
  if (followed_ < 0) {
    return;
  }
  followed_ = -1;
  keeps_busy_ = false;
  set(0, allowed_);
  set(server_, allowed_);
  for (const pid_t tid : others_) {
    set(tid, allowed_);
  }
  HelperThreads::of_process().keep_on(allowed_);
}

void CpuAffinity::set(pid_t tid, const cpu_set_t& cpus) const {
  // A refusal (a cpuset that changed) costs speed, nothing else.
  ::sched_setaffinity(tid, sizeof cpus, &cpus);
}

}  // namespace sp::supervisor
