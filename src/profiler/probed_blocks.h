#pragma once

#include <cstdint>

#include "profiler/code_blocks.h"
#include "profiler/probed_profile.h"

namespace sp::profiler {

/// What probes counted, in the shape of counted code; with blocks that have no hits. Edges of
/// blocks that fall through are derived. Consistency is checked where a block was counted to the
/// end: what comes into it from blocks that were counted over the same span must be among its hits,
/// and what it was entered with must leave it; each but for one execution a thread. Pure.
[[nodiscard]] CountedCode probed_blocks(const ProbedProfile& profile, std::uint64_t threads);

}  // namespace sp::profiler
