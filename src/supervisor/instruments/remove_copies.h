#pragma once

#include "supervisor/breakpoints/breakpoint_table.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// Unmaps the copies of displaced instructions, where no other thread can be in one. `tracee` is in
/// a stop for a signal or an interrupt, and the last to be let go does it at the latest.
void remove_copies(BreakpointTable& code, const Tracee& tracee);

}  // namespace sp::supervisor
