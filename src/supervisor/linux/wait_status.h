#pragma once

#include <sys/resource.h>

#include <variant>

#include "core/clock.h"

namespace sp::supervisor {

/// The meaning of a wait(2) status of a seized tracee; ptrace(2), "Stopped states".

/// The thread ended by exit(2); if it was the last one, its process.
struct Exited {
  int code = 0;
};
/// The process was killed by a signal.
struct Killed {
  int signal = 0;
};
/// Signal-delivery-stop: the tracer decides whether the signal is delivered.
struct SignalDelivery {
  int signal = 0;
};
/// Syscall-stop, at entry or exit (PTRACE_O_TRACESYSGOOD).
struct AtSyscall {};
/// Group-stop, for job control: by SIGSTOP, SIGTSTP, SIGTTIN or SIGTTOU.
struct GroupStop {
  int signal = 0;
};
/// A stop by PTRACE_INTERRUPT, a new task's first stop, or SIGCONT after a group-stop.
struct InterruptStop {};
enum class Event { fork, vfork, clone, exec, exit, other };
struct EventStop {
  Event event = Event::other;
};
/// Neither a stop nor an end (WIFCONTINUED of a child that is not traced).
struct NotAStop {};

using WaitStatus = std::variant<Exited, Killed, SignalDelivery, AtSyscall, GroupStop, InterruptStop,
                                EventStop, NotAStop>;

[[nodiscard]] WaitStatus parse_wait_status(int status);

/// For how long it was on CPUs.
[[nodiscard]] core::Duration cpu_of(const rusage& usage);

}  // namespace sp::supervisor
