#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/address.h"
#include "profiler/profile.h"

namespace sp::profiler {

/// The number of on-CPU samples at one innermost pc.
struct PcSamples {
  core::ModuleOffset where;
  std::uint64_t samples = 0;
};

/// Sorted by address, without duplicates. Leaves out samples without an address and those counted
/// at an outer frame.
[[nodiscard]] std::vector<PcSamples> pc_samples(const Profile& profile);

/// The number of samples within [start, start + size).
[[nodiscard]] std::uint64_t samples_in(std::span<const PcSamples> samples, core::ModuleOffset start,
                                       std::uint64_t size);

}  // namespace sp::profiler
