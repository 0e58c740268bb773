#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "core/clock.h"
#include "supervisor/instruments/probes/copy_installer.h"
#include "supervisor/instruments/probes/probed_thread.h"
#include "supervisor/tracees/tracee.h"
#include "supervisor/tracees/world_stop.h"

namespace sp::supervisor {

/// Finds out where in the original a stopped thread is whose pc is in a function's copy
/// (ProbedThread::out_of_copy): nobody else is to see a copy. The thread itself stays there: were
/// we killed, it could not go on in the original, which has jumps.
void look_outside_of_copy(const Tracee& tracee);
/// Puts the thread to the original, where it can go on.
void leave_function_copy(const Tracee& tracee);
/// The thread is about to be delivered a signal, and so will go on in the original once a handler
/// returns. Puts it there, and sees to it that it can.
void prepare_for_signal(const Tracee& tracee, CopyInstaller& installer);
/// The thread ends where it is.
void end_in_function_copy(const Tracee& tracee);
/// A stopped thread whose pc is in the original of a function that runs from a copy, where a
/// breakpoint was removed or an execution of its block begins: puts it into the copy. `is_counted`:
/// this execution of the block is counted already.
void enter_function_copy(const Tracee& tracee, bool is_counted);

/// The breakpoint that a held thread has met and whose trap is not served yet; nothing if it has
/// met none. Where `was_stepped`, a trap that is pending may be a step's, and counts as none.
[[nodiscard]] std::optional<core::Address> unserved_breakpoint(const ProbedCode& code,
                                                               const HeldThread& held,
                                                               core::Address pc, bool was_stepped);
/// The same for such a thread, whose trap will find it in the copy. In the original it would come
/// to jumps that are in the middle of its instructions, were we killed before.
void enter_function_copy_behind(const Tracee& tracee, core::Address breakpoint, bool is_counted);

/// Where the threads of an address space will go on that sleep in a system call while the others
/// are held: behind the call. One for each.
[[nodiscard]] std::vector<core::Address> sleepers(TraceeTable& tracees, const ProbedCode& code,
                                                  const WorldStop& world);
/// Gives a thread its counters if its process has some that are free. It is stopped, unless it
/// needs no segment for them.
void give_counters(const Tracee& tracee);

}  // namespace sp::supervisor
