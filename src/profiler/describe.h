#pragma once

#include <string>
#include <vector>

#include "core/clock.h"
#include "core/run_facts.h"
#include "profiler/profile.h"

/// Texts for people, shared by the terminal and the flame graph's heading.
namespace sp::profiler {

/// Three digits and a suitable unit: "850 ns", "12.3 us", "1.20 ms", "4.56 s", "3 min 20 s".
[[nodiscard]] std::string duration_text(core::Duration duration);

/// "17.3 %", "0.04 %"; 0 if `of` is 0.
[[nodiscard]] std::string percent_text(double part, double of);

/// What the numbers are: "sampled (1,234 samples, on-CPU), one every 101 us on average".
[[nodiscard]] std::string sampling_text(const core::RunFacts& facts, const SampleCounts& counts,
                                        bool wall);

/// Of a run in parts (--split), about the one that is shown at the end; "" of others.
[[nodiscard]] std::string part_text(const core::RunFacts& facts);

/// The cost to the target: "overhead about 1.20 %".
[[nodiscard]] std::string overhead_text(const core::Cost& cost);

/// Of a run's picture: its command, or its name.
[[nodiscard]] std::string title_text(const core::RunFacts& facts);
/// And what its numbers are, with the time and the cost.
[[nodiscard]] std::string subtitle_text(const core::RunFacts& facts, const SampleCounts& counts,
                                        bool wall);

/// The command as a shell would read it, for a title.
[[nodiscard]] std::string command_text(const std::vector<std::string>& command);

}  // namespace sp::profiler
