#pragma once

#include "core/clock.h"
#include "supervisor/tracees/tracee.h"

/// The SIGSTOPs that we send to take a sample.
namespace sp::supervisor {

/// The thread is in a signal-delivery stop of SIGSTOP: true where we sent the signal for a sample.
[[nodiscard]] bool is_own_stop(const Tracee& tracee);

/// A SIGSTOP that was sent to the thread before its exec is still pending: `tracee` is the thread
/// of the new program, `process` its process.
void carry_over_stop(Tracee& tracee, const TracedProcess& process);

/// The thread is in a stop: whether a SIGSTOP that we sent it comes behind that. It does not where
/// a SIGCONT has discarded it; the thread may be asked again then. Nobody may be sending one in
/// this moment: the timer is paused, or the thread was in a group-stop.
[[nodiscard]] bool stop_is_coming(const Tracee& tracee);

/// Stops by SIGSTOP end for a process that has a handler of SIGCONT. Reads a file of
/// /proc, at most every 50 ms.
void look_for_sigcont_handler(TracedProcess& process, pid_t tid, core::TimePoint now);

/// The thread's process goes on after a group-stop.
void end_group_stop(Tracee& tracee);

}  // namespace sp::supervisor
