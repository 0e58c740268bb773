#pragma once

#include <cstdint>
#include <vector>

#include "core/clock.h"
#include "supervisor/instruments/probes/function_copies.h"

namespace sp::supervisor {

/// The functions that must not run from copies any more, so that copies cost at most the part
/// `limit` (0..1) of the target's own time. `uses` is what was counted while the target used `cpu`
/// of CPU time, the cost of copies included. Those go first that cost most for each execution that
/// they count; those that cost next to nothing stay. None if `cpu` is less than the cost. Pure.
[[nodiscard]] std::vector<std::uint32_t> too_dear(
    const std::vector<FunctionCopies::FunctionUse>& uses, double limit, core::Duration cpu);

}  // namespace sp::supervisor
