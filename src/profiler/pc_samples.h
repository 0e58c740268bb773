#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/address.h"
#include "profiler/profile.h"

namespace sp::profiler {

/// On-CPU samples whose innermost pc this was.
struct PcSamples {
  core::ModuleOffset where;
  std::uint64_t samples = 0;
};

/// By address, each once. Without those that have no address or were counted at an outer frame.
[[nodiscard]] std::vector<PcSamples> pc_samples(const Profile& profile);

/// How many were within [start, start + size).
[[nodiscard]] std::uint64_t samples_in(std::span<const PcSamples> samples, core::ModuleOffset start,
                                       std::uint64_t size);

}  // namespace sp::profiler
