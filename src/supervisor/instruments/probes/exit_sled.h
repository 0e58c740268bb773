#pragma once

#include "supervisor/instruments/probes/probed_code.h"
#include "supervisor/tracees/tracee.h"

namespace sp::supervisor {

/// XRay's runtime has switched on the sled in front of the function's `ret`: it is left by this
/// jump, whose destination returns in its stead.
[[nodiscard]] bool is_in_exit_sled(const Tracee& tracee, const BreakpointSite& jump);

}  // namespace sp::supervisor
