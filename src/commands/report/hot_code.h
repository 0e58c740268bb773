#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "commands/annotate/finished_run.h"
#include "profiler/recorded_run.h"
#include "profiler/recording/recording_reader.h"

namespace sp::report {

/// A function's code, and what is known of it.
struct HotFunction {
  annotate::CountedFunction function;                // its blocks: none if it was not counted
  std::map<std::uint64_t, std::uint64_t> samples{};  // by offset in the module
  std::uint64_t sampled = 0;                         // their sum
  std::uint64_t executed = 0;                        // instructions
};

/// The functions in whose code most samples fell, then those that executed the most instructions;
/// at most `most`. Code of inlined functions is that of the functions that they are inlined into.
/// Both sources may be null.
[[nodiscard]] std::vector<HotFunction> hot_functions(profiler::RecordingReader* recording,
                                                     const profiler::RecordedCode* code,
                                                     std::size_t most);

}  // namespace sp::report
