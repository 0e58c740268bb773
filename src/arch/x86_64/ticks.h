#pragma once

#include <cpuid.h>
#include <x86intrin.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace sp::arch::x86_64 {

/// The counter that copies read for their events: the same on all CPUs.
inline std::uint64_t ticks() { return __rdtsc(); }
inline constexpr std::array kTicksInstruction{std::byte{0x0F}, std::byte{0x31}};

/// It runs at one rate, whatever the CPU does (CPUID: invariant TSC).
inline bool are_ticks_steady() {
  constexpr unsigned kPowerManagement = 0x80000007;
  constexpr unsigned kInvariant = 1U << 8U;
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(kPowerManagement, &eax, &ebx, &ecx, &edx) != 0 && (edx & kInvariant) != 0;
}

}  // namespace sp::arch::x86_64
