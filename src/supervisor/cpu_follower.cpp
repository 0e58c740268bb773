#include "supervisor/cpu_follower.h"

#include <utility>

namespace sp::supervisor {
namespace {

cpu_set_t only(int cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(cpu, &cpus);
  return cpus;
}

}  // namespace

CpuFollower::CpuFollower(pid_t server, std::vector<pid_t> others)
    : server_(server), others_(std::move(others)) {
  if (::sched_getaffinity(0, sizeof allowed_, &allowed_) == 0) {
    cpus_ = CPU_COUNT(&allowed_);
  }
}

void CpuFollower::follow(int cpu, bool tick_there) {
  if (!may_use(cpu) || (cpu == server_at_ && tick_there == (at_ == cpu))) {
    return;
  }
  cpu_set_t elsewhere = allowed_;
  CPU_CLR(cpu, &elsewhere);
  set(0, tick_there ? only(cpu) : elsewhere);
  at_ = tick_there ? cpu : -1;
  set(server_, only(cpu));
  server_at_ = cpu;
  for (const pid_t tid : others_) {
    set(tid, elsewhere);
  }
}

void CpuFollower::visit(int cpu, bool tick_there) {
  if (server_at_ >= 0) {
    set(server_, allowed_);
    server_at_ = -1;
    for (const pid_t tid : others_) {
      set(tid, allowed_);
    }
  }
  if (!tick_there && at_ < 0) {
    set(0, allowed_);
  } else if (tick_there && may_use(cpu) && cpu != at_) {
    set(0, only(cpu));
    at_ = cpu;
  }
}

bool CpuFollower::may_use(int cpu) const {
  return cpus_ > 1 && cpu >= 0 && cpu < CPU_SETSIZE && CPU_ISSET(cpu, &allowed_);
}

void CpuFollower::set(pid_t tid, const cpu_set_t& cpus) const {
  // A refusal (a cpuset that changed) costs speed, nothing else.
  ::sched_setaffinity(tid, sizeof cpus, &cpus);
}

}  // namespace sp::supervisor
