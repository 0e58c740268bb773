#pragma once

#include <sys/auxv.h>

namespace sp::arch::aarch64 {

/// LSE, and so stadd.
inline bool adds_in_memory() {
  constexpr unsigned long kHwcapAtomics = 1UL << 8U;
  return (::getauxval(AT_HWCAP) & kHwcapAtomics) != 0;
}

}  // namespace sp::arch::aarch64
