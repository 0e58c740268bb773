#pragma once

#include <x86intrin.h>

#include <cstdint>

namespace sp::arch::x86_64 {

/// The counter that copies read for their events: the same on all CPUs.
inline std::uint64_t ticks() { return __rdtsc(); }

}  // namespace sp::arch::x86_64
