#pragma once

#include <sys/types.h>

#include <string_view>

#include "core/address.h"
#include "core/crash.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// The signal's default action is to end the process with a core dump: signal(7).
[[nodiscard]] bool dumps_core_by_default(int signal);

/// `status` is the text of /proc/PID/status. The signal ends the process, with a core dump: its
/// action is the default one. `is_sent`: by a process, not for a fault; such signals do nothing to
/// the first process of a PID namespace (pid_namespaces(7)).
[[nodiscard]] bool dies_with_core(std::string_view status, int signal, bool is_sent);

/// The thread is in the delivery stop of the signal, of which its process dies with a core dump.
/// Looks at the program's own action where SIGTRAP has our handler.
[[nodiscard]] bool dies_with_core(const Tracee& tracee, int signal);

/// What the kernel says of the signal that is about to be delivered to a stopped thread. `pc`:
/// where the thread would be without us, which faults of an instruction (SIGILL, SIGFPE) name.
[[nodiscard]] core::CrashSignal crash_signal(pid_t tid, int signal, core::Address pc);

/// Has the fault of an instruction name the instruction in the program's own code, for the core.
void correct_fault_address(pid_t tid, core::Address pc);

}  // namespace sp::supervisor
