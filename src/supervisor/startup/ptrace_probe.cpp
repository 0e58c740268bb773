#include "supervisor/startup/ptrace_probe.h"

#include <sched.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/startup/probe_process.h"

namespace sp::supervisor {
namespace {

using core::Result;

constexpr unsigned long kGetPersonality = 0xffffffff;  // personality(2)

bool move_to_cpu(pid_t pid, int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(cpu), &set);
  return ::sched_setaffinity(pid, sizeof set, &set) == 0;
}

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(static_cast<unsigned>(cpu), &set)) {
        cpus.push_back(cpu);
      }
    }
  }
  return cpus;
}

// The median time of a stop and a resume; nothing if the child ended or ptrace failed.
std::optional<core::Duration> median_stop(Child& busy, int rounds) {
  std::vector<core::Duration> times;
  for (int i = 0; i < rounds; ++i) {
    const core::TimePoint begin = core::Clock::now();
    if (::ptrace(PTRACE_INTERRUPT, busy.pid(), nullptr, nullptr) != 0) {
      return std::nullopt;
    }
    const auto status = busy.wait();
    if (!status || !WIFSTOPPED(*status) ||
        ::ptrace(PTRACE_CONT, busy.pid(), nullptr, nullptr) != 0) {
      return std::nullopt;
    }
    times.push_back(core::Clock::now() - begin);
    // Let the child run: stopping a thread that never ran would cost less.
    const core::TimePoint until = core::Clock::now() + std::chrono::microseconds(50);
    while (core::Clock::now() < until) {
      ::sched_yield();
    }
  }
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return times[static_cast<std::size_t>(rounds) / 2];
}

Answer<StopCost> measure(int rounds) {
  Child busy([] {
    for (volatile unsigned turns = 0;;) {
      turns = turns + 1;
    }
    return 0;
  });
  if (busy.pid() < 0 || ::ptrace(PTRACE_SEIZE, busy.pid(), nullptr, nullptr) != 0) {
    return {errno, {}};
  }
  const std::vector<int> cpus = allowed_cpus();
  StopCost cost;
  if (!cpus.empty()) {
    move_to_cpu(0, cpus.front());
    move_to_cpu(busy.pid(), cpus.front());
  }
  const auto same = median_stop(busy, rounds);
  if (!same) {
    return {errno == 0 ? ECHILD : errno, {}};
  }
  cost.same_cpu = *same;
  if (cpus.size() > 1) {
    move_to_cpu(busy.pid(), cpus[1]);
    cost.other_cpu = median_stop(busy, rounds).value_or(core::Duration::zero());
  }
  return {0, cost};
}

}  // namespace

int probe_filter() {
  // No process has the pid -1, so the kernel answers ESRCH if the request reaches it.
  errno = 0;
  ::ptrace(PTRACE_CONT, -1, nullptr, nullptr);
  return errno == ESRCH ? 0 : errno;
}

Result<void> probe_attach(pid_t pid) {
  const auto answer = in_own_process("attaching to process " + std::to_string(pid), [pid] {
    const bool attached = ::ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0;
    return Answer<bool>{attached ? 0 : errno, attached};
  });
  return answer.map([](bool) {});
}

Result<StopCost> probe_stop_cost(int rounds) {
  return in_own_process("stopping a child", [rounds] { return measure(rounds); });
}

bool probe_no_aslr() {
  const int before = ::personality(kGetPersonality);
  if (before == -1) {
    return false;
  }
  const auto wanted = static_cast<unsigned long>(before) | ADDR_NO_RANDOMIZE;
  const bool allowed = ::personality(wanted) != -1;
  ::personality(static_cast<unsigned long>(before));
  return allowed;
}

bool probe_memory_reads() {
  const int original = 42;
  int copy = 0;
  const iovec ours{&copy, sizeof copy};
  const iovec theirs{const_cast<int*>(&original), sizeof original};
  return ::process_vm_readv(::getpid(), &ours, 1, &theirs, 1, 0) == sizeof copy && copy == 42;
}

}  // namespace sp::supervisor
