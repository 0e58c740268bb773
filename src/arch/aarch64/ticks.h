#pragma once

#include <cstdint>

namespace sp::arch::aarch64 {

/// No copies write events on this CPU.
inline std::uint64_t ticks() { return 0; }

}  // namespace sp::arch::aarch64
