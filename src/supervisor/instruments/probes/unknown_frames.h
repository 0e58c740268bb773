#pragma once

#include "supervisor/instruments/probes/probed_code.h"
#include "supervisor/tracees/world_stop.h"

namespace sp::supervisor {

/// Finds where handlers that ran already when the process was attached to may return to: each word
/// on the stacks of its threads that could be an address in instrumented code is noted as
/// interrupted. From then on the process has no unknown frames. It keeps them if a thread's stack
/// cannot be found, or is larger than can be looked through in a stop.
void find_interrupted(ProbedCode& code, TraceeTable& tracees, WorldStop& world);

}  // namespace sp::supervisor
