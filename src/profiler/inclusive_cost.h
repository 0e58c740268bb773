#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sp::profiler {

/// Calls of function `to` from one place in function `from`.
struct CallArc {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint64_t calls = 0;
};

/// By arc, an estimate of the cost that its calls cause, as gprof makes it: a function's cost with
/// its callees is shared out to its callers by their numbers of calls. `self` has each function's
/// own cost; `calls` how often it was called in all, 0 if only the arcs tell.
///
/// Functions that call each other in a cycle share one cost, which goes to the callers outside. An
/// arc within a cycle gets none, but to a function that only the cycle calls: that one's own cost,
/// without the cycle's. So no function is given more than the whole.
[[nodiscard]] std::vector<std::uint64_t> shared_out_costs(std::span<const std::uint64_t> self,
                                                          std::span<const std::uint64_t> calls,
                                                          std::span<const CallArc> arcs);

}  // namespace sp::profiler
