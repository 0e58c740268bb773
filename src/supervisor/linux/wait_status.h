#pragma once

#include <variant>

namespace sp::supervisor {

/// What a status of wait(2) says about a seized tracee. ptrace(2), "Stopped states".

/// The thread, or where it was the last one its process, ended by exit(2).
struct Exited {
  int code = 0;
};
/// The process was ended by a signal.
struct Killed {
  int signal = 0;
};
/// A signal is about to be delivered; the tracer decides.
struct SignalDelivery {
  int signal = 0;
};
/// At the entry to a system call or on the way out (PTRACE_O_TRACESYSGOOD).
struct AtSyscall {};
/// The process is stopped for job control: by SIGSTOP, SIGTSTP, SIGTTIN or SIGTTOU.
struct GroupStop {
  int signal = 0;
};
/// PTRACE_INTERRUPT, a new task's first stop, or the end of a group-stop was heard.
struct InterruptStop {};
enum class Event { fork, vfork, clone, exec, exit, other };
struct EventStop {
  Event event = Event::other;
};
/// Not a stop or an end (WIFCONTINUED of a child that is not traced).
struct NotAStop {};

using WaitStatus = std::variant<Exited, Killed, SignalDelivery, AtSyscall, GroupStop, InterruptStop,
                                EventStop, NotAStop>;

[[nodiscard]] WaitStatus parse_wait_status(int status);

}  // namespace sp::supervisor
