#pragma once

#include "core/address.h"
#include "core/clock.h"
#include "supervisor/tracees/tracee.h"

// A restartable sequence (rseq(2)) that meets a breakpoint is aborted, and programs try again until
// it is not.
namespace sp::supervisor {

/// The thread has met the breakpoint, in a sequence. Looks now and then: most threads never are in
/// one.
[[nodiscard]] bool keeps_sequence_from_ending(const Tracee& tracee, core::Address breakpoint);
/// Nothing in the thread's sequence is counted from now on.
void remove_probes_of_sequence(const Tracee& tracee, core::TimePoint now);

}  // namespace sp::supervisor
