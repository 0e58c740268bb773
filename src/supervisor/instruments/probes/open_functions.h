#pragma once

#include "supervisor/instruments/probes/probed_code.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// With --trace and --coverage, at an attach: functions that threads are in already get their
/// places now, so that they are seen to return, and what they still reach is seen. `stopped`: a
/// thread of the process, whose stop is being handled. Words that were left on a stack may name
/// functions that are not open, which costs little.
void instrument_open_functions(ProbedCode& code, TraceeTable& tracees, const Tracee& stopped);

}  // namespace sp::supervisor
