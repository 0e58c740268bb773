#pragma once

#include <cstdint>

#include "profiler/code_blocks.h"
#include "profiler/probed_profile.h"

namespace sp::profiler {

/// Converts the counts of probes to counted code, including blocks without hits. Derives the edges
/// of blocks that fall through. Checks the consistency of each block that was counted to the end:
/// edges into it from blocks counted over the same span must not exceed its hits, and its hits must
/// equal the edges that leave it, each within one execution per thread. Pure.
[[nodiscard]] CountedCode probed_blocks(const ProbedProfile& profile, std::uint64_t threads);

}  // namespace sp::profiler
