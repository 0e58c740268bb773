#pragma once

#include "supervisor/instruments/probes/probed_code.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// With --trace and --coverage, at an attach and when a trace is switched on: functions that
/// threads are in already get their places now, so that they are seen to return, and what they
/// still reach is seen. `stopped`: a thread of the process, whose stop is being handled; `in_hit`:
/// see note_frames_before(), which is called. Words that were left on a stack may name functions
/// that are not open, which costs little.
void instrument_open_functions(ProbedCode& code, TraceeTable& tracees, const Tracee& stopped,
                               bool in_hit = false);

}  // namespace sp::supervisor
