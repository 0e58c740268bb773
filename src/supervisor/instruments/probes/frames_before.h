#pragma once

#include <vector>

#include "core/mapping.h"
#include "supervisor/instruments/probes/probed_code.h"
#include "supervisor/tracees/tracee.h"
#include "supervisor/tracees/world_stop.h"

namespace sp::supervisor {

/// Tells the trace of the process which frames its threads have open, as far as their stacks can be
/// walked to the outermost frame. Needs places where functions return. `stopped`: the thread whose
/// stop is being handled; `in_hit`: that is a hit of an entry, whose call is told afterwards.
void note_frames_before(ProbedCode& code, TraceeTable& tracees, const WorldStop& world,
                        std::vector<core::Mapping> maps, const Tracee& stopped, bool in_hit);

}  // namespace sp::supervisor
