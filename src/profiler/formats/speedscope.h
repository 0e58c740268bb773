#pragma once

#include <cstdint>
#include <iosfwd>

#include "profiler/recorded_run.h"

namespace sp::profiler {

/// The greatest whole number up to which JavaScript has all of them.
inline constexpr std::uint64_t kExactInJavaScript = std::uint64_t{1} << 53U;

/// speedscope's JSON, one profile of type "sampled": a stack's weight is its samples. Reads the
/// stacks once and holds their weights. Numbers above 2^53 are written in full; speedscope rounds
/// them. Returns how many there were.
std::uint64_t write_speedscope(std::ostream& out, const RecordedRun& run, StackSource& stacks);

}  // namespace sp::profiler
