#pragma once

#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// The SIGSEGV that is about to be delivered is not the program's: the copy that the thread is in
/// has read the CPU's ticks for an event, which the program has forbidden itself (prctl(2),
/// PR_SET_TSC).
[[nodiscard]] bool is_by_reading_ticks(const Tracee& tracee);

}  // namespace sp::supervisor
