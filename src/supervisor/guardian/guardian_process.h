#pragma once

#include "supervisor/guardian/journal.h"
#include "supervisor/guardian/pending_stops.h"

namespace sp::supervisor {

/// The guardian process's main function, called in the forked child. Listens on the socket until
/// superprofiler says goodbye or dies; then restores what is left to restore. Never returns.
[[noreturn]] void run_guardian_process(PendingStopTable& pending_stops, const Journal& journal,
                                       int socket);

}  // namespace sp::supervisor
