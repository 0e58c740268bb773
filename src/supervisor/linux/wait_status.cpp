#include "supervisor/linux/wait_status.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <chrono>

namespace sp::supervisor {
namespace {

Event event_of(int number) {
  switch (number) {
    case PTRACE_EVENT_FORK:
      return Event::fork;
    case PTRACE_EVENT_VFORK:
      return Event::vfork;
    case PTRACE_EVENT_CLONE:
      return Event::clone;
    case PTRACE_EVENT_EXEC:
      return Event::exec;
    case PTRACE_EVENT_EXIT:
      return Event::exit;
    default:
      return Event::other;
  }
}

}  // namespace

WaitStatus parse_wait_status(int status) {
  if (WIFEXITED(status)) {
    return Exited{WEXITSTATUS(status)};
  }
  if (WIFSIGNALED(status)) {
    return Killed{WTERMSIG(status)};
  }
  if (!WIFSTOPPED(status)) {
    return NotAStop{};
  }
  const int signal = WSTOPSIG(status);
  const int event = (status >> 16) & 0xFF;
  if (signal == (SIGTRAP | 0x80)) {
    return AtSyscall{};
  }
  if (event == 0) {
    return SignalDelivery{signal};
  }
  if (event == PTRACE_EVENT_STOP) {
    if (signal == SIGTRAP) {
      return InterruptStop{};
    }
    return GroupStop{signal};
  }
  return EventStop{event_of(event)};
}

core::Duration cpu_of(const rusage& usage) {
  return std::chrono::seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         std::chrono::microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

}  // namespace sp::supervisor
