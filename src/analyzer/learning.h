#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/call_cost.h"
#include "core/clock.h"

namespace sp::analyzer {

/// A function whose calls were watched.
struct WatchedFunction {
  core::CallCost calls;
  bool is_kept = false;  // a rule wants it
};

/// Which functions cost too much to be traced: those with the most cost for the time in them, until
/// what the rest cost is at most `percent` of `own`, the target's own time meanwhile; none that
/// would fit after all, and none with fewer than 10 calls. Indexes of `functions`, ascending. Pure.
[[nodiscard]] std::vector<std::size_t> find_too_costly(std::span<const WatchedFunction> functions,
                                                       core::Duration own, double percent);

}  // namespace sp::analyzer
