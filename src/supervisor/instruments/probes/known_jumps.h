#pragma once

#include "supervisor/instruments/probes/probed_code.h"

namespace sp::supervisor {

/// Finds out whether all places that the function's indirect jumps may lead to are known, once the
/// file's data has been read for pointers (CodeAnalysis::references()): those become leaders, and
/// the jumps need not be watched any more. False where that is still to come.
[[nodiscard]] bool resolve_jumps(ProbedCode& code, ProbedFunction& function);

}  // namespace sp::supervisor
