#include "supervisor/linux/stepped_threads.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "supervisor/linux/proc_files.h"

namespace sp::supervisor {
namespace {

/// Tids that are created one after the other have entries of their own; others look further.
constexpr std::size_t kLookedAt = 16;

std::size_t entry_of(pid_t tid, std::size_t i) {
  return (static_cast<std::size_t>(tid) + i) % SteppedThreads::kEntries;
}

bool is_traced(pid_t tid) {
  const auto status = read_proc("/proc/" + std::to_string(tid) + "/status");
  return status && status_field(*status, "TracerPid").value_or("0") != "0";
}

/// True once the thread is detached, or gone.
bool is_detached(pid_t tid) {
  int status = 0;
  const pid_t reported = ::waitpid(tid, &status, __WALL | WNOHANG);
  if (reported == 0) {
    return false;
  }
  if (reported == tid && WIFSTOPPED(status)) {
    const bool is_interrupt = status >> 16 == PTRACE_EVENT_STOP;
    const auto signal = static_cast<std::uintptr_t>(is_interrupt ? 0 : WSTOPSIG(status));
    ::ptrace(PTRACE_DETACH, tid, nullptr, reinterpret_cast<void*>(signal));  // NOLINT
  }
  return true;
}

}  // namespace

void SteppedThreads::add(pid_t tid) {
  for (std::size_t i = 0; i < kLookedAt; ++i) {
    auto& entry = tids.at(entry_of(tid, i));
    const pid_t there = entry.load(std::memory_order_relaxed);
    if (there == tid || there == 0) {
      entry.store(tid, std::memory_order_relaxed);
      return;
    }
  }
}

void SteppedThreads::remove(pid_t tid) {
  for (std::size_t i = 0; i < kLookedAt; ++i) {
    auto& entry = tids.at(entry_of(tid, i));
    if (entry.load(std::memory_order_relaxed) == tid) {
      entry.store(0, std::memory_order_relaxed);
    }
  }
}

void SteppedThreads::end_steps() {
  constexpr int kRounds = 200;
  std::vector<pid_t> stepped;
  for (const auto& entry : tids) {
    if (const pid_t tid = entry.load(std::memory_order_relaxed); tid != 0) {
      stepped.push_back(tid);
    }
  }
  std::vector<pid_t> traced;
  for (int round = 0; round < kRounds && !(stepped.empty() && traced.empty()); ++round) {
    std::erase_if(stepped, [&traced](pid_t tid) {
      if (::ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) == 0) {
        ::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr);
        traced.push_back(tid);
        return true;
      }
      return !is_traced(tid);  // else superprofiler's end has not come that far yet
    });
    std::erase_if(traced, is_detached);
    if (!(stepped.empty() && traced.empty())) {
      ::usleep(100);
    }
  }
}

}  // namespace sp::supervisor
