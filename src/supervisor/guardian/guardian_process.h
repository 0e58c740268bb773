#pragma once

#include "supervisor/guardian/journal.h"
#include "supervisor/guardian/pending_stops.h"
#include "supervisor/linux/stepped_threads.h"
#include "supervisor/linux/terminal_modes.h"

namespace sp::supervisor {

/// The tables that the guardian works from, in memory that it shares with superprofiler.
struct SharedTables {
  PendingStopTable pending_stops;
  SteppedThreads steps;
  TerminalModes terminal;
};

/// The guardian process's main function, called in the forked child. Listens on the socket until
/// superprofiler says goodbye or dies; then restores what is left to restore. Never returns.
[[noreturn]] void run_guardian_process(SharedTables& tables, const Journal& journal, int socket);

}  // namespace sp::supervisor
